#include "gui/window/actions.hpp"

#include <QObject>

#include "gui/panels/compare_panel.hpp"

namespace interlace::gui {

namespace {

constexpr double kZoomAKey = 1.4;
constexpr double kPanAKey = 0.12;
constexpr double kScrollAKey = 44;

QString tr(const char* text) { return QObject::tr(text); }
QKeySequence key(const char* text) { return QKeySequence(QLatin1String(text)); }

}  // namespace

std::vector<KeyAction> timeline_actions(ComparePanel& panel) {
  const QString move = tr("Move");
  const QString look = tr("Look closer");
  const QString both = tr("Measured and predicted");
  return {
      {move, tr("Zoom in"), {key("W"), key("+"), key("=")}, [&panel] { panel.zoom(kZoomAKey); }},
      {move, tr("Zoom out"), {key("S"), key("-")}, [&panel] { panel.zoom(1 / kZoomAKey); }},
      {move, tr("Earlier"), {key("A"), key("Left")}, [&panel] { panel.pan(kPanAKey); }},
      {move, tr("Later"), {key("D"), key("Right")}, [&panel] { panel.pan(-kPanAKey); }},
      {move, tr("Lanes above"), {key("Up")}, [&panel] { panel.scroll(-kScrollAKey); }},
      {move, tr("Lanes below"), {key("Down")}, [&panel] { panel.scroll(kScrollAKey); }},
      {move, tr("Fit the range, the selection, or a step"), {key("F")}, [&panel] { panel.fit_selection(); }},
      {move, tr("Fit the aligned step or batch"), {key("0")}, [&panel] { panel.fit_step(); }},
      {move, tr("Fit everything"), {key("Home"), key("Shift+F")}, [&panel] { panel.fit_all(); }},
      {move, tr("Back to the view before"), {key("Z"), key("Backspace")}, [&panel] { panel.go_back(); }},
      {move, tr("Forward again"), {key("Shift+Z")}, [&panel] { panel.go_forward(); }},
      {look, tr("Next operation on the row"), {key(".")}, [&panel] { panel.select_neighbour(true); }},
      {look, tr("Previous operation on the row"), {key(",")}, [&panel] { panel.select_neighbour(false); }},
      {look, tr("Set or remove a mark"), {key("M")}, [&panel] { panel.toggle_mark(); }},
      {look, tr("Drop selection and range"), {key("Esc")}, [&panel] { panel.clear_selection(); }},
      {look, tr("Show all rows of all lanes"), {key("E")}, [&panel] { panel.set_detail(LaneDetail::kFull); }},
      {look, tr("Show the main rows only"), {key("Shift+E")}, [&panel] { panel.set_detail(LaneDetail::kCompact); }},
      {look, tr("Pin or unpin the lane selected or pointed at"), {key("X")}, [&panel] { panel.toggle_pin(); }},
      {look,
       tr("Show or hide the critical path"),
       {key("P")},
       [&panel] { panel.set_critical_shown(!panel.critical_shown()); }},
      {look, tr("Show or hide why devices idle"), {key("I")}, [&panel] { panel.set_idle_shown(!panel.idle_shown()); }},
      {look, tr("Show or hide memory"), {key("Y")}, [&panel] { panel.set_memory_shown(!panel.memory_shown()); }},
      {both,
       tr("Link or unlink the two timelines"),
       {key("L")},
       [&panel] { panel.set_linked(!panel.views().linked()); }},
      {both,
       tr("Align by step, or by batch: the selected one's"),
       {key("B")},
       [&panel] { panel.aligned_by() == AlignBy::kBatch ? panel.align_step() : panel.align_batch(); }},
      {both, tr("Align the step or batch before"), {key("[")}, [&panel] { panel.align_next(-1); }},
      {both, tr("Align the step or batch after"), {key("]")}, [&panel] { panel.align_next(1); }},
      {both, tr("Align by the range or work chosen"), {key("Shift+L")}, [&panel] { panel.align_selections(); }},
      {both, tr("Above or beside each other"), {key("V")}, [&panel] { panel.set_beside(!panel.beside()); }},
  };
}

}  // namespace interlace::gui
