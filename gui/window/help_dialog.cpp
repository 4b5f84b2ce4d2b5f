#include "gui/window/help_dialog.hpp"

#include <QDialogButtonBox>
#include <QLabel>
#include <QVBoxLayout>

namespace interlace::gui {

namespace {

QString row(const QString& keys, const QString& text) {
  return QStringLiteral("<tr><td style='padding-right:18px'><b>%1</b></td><td>%2</td></tr>")
      .arg(keys.toHtmlEscaped(), text.toHtmlEscaped());
}

QString heading(const QString& text) {
  return QStringLiteral("<tr><td colspan='2'><br><i>%1</i></td></tr>").arg(text.toHtmlEscaped());
}

QString keys_text(const QList<QKeySequence>& keys) {
  QStringList all;
  for (const QKeySequence& key : keys) all << key.toString(QKeySequence::NativeText);
  return all.join(QStringLiteral(", "));
}

QString mouse_rows() {
  return heading(QObject::tr("Mouse")) + row(QObject::tr("wheel"), QObject::tr("zoom at the pointer")) +
         row(QObject::tr("Shift + wheel"), QObject::tr("earlier, later")) +
         row(QObject::tr("Ctrl + wheel, wheel on lane names"), QObject::tr("lanes above, below")) +
         row(QObject::tr("drag"), QObject::tr("move the view")) +
         row(QObject::tr("drag on the time axis"), QObject::tr("measure a range over all lanes; edges snap")) +
         row(QObject::tr("Shift + drag"), QObject::tr("measure a range over the rows dragged across")) +
         row(QObject::tr("click"),
             QObject::tr("select: details below, arrows to what it waits for and what waits for it")) +
         row(QObject::tr("double click"), QObject::tr("fit an operation")) +
         row(QObject::tr("click on a lane's name"), QObject::tr("show all its rows, or the main ones")) +
         row(QObject::tr("right click on a lane's name"), QObject::tr("pin it to the top")) +
         row(QObject::tr("click on a rank"), QObject::tr("fold or unfold it"));
}

}  // namespace

HelpDialog::HelpDialog(const std::vector<KeyAction>& actions, QWidget* parent) : QDialog(parent) {
  setWindowTitle(tr("Keys and mouse"));
  QString left = QStringLiteral("<table>");
  QString group;
  for (const KeyAction& action : actions) {
    if (action.group != group) left += heading(action.group);
    group = action.group;
    left += row(keys_text(action.keys), action.text);
  }
  const QString right =
      QStringLiteral("<table>") + heading(tr("Find")) + row(tr("/"), tr("search names by regular expression")) +
      row(tr("N, Shift+N"), tr("next, previous hit")) + row(tr("C"), tr("next way to colour")) +
      row(tr("T"), tr("write a note; those on a recording are kept beside it")) + heading(tr("Schedule editor")) +
      row(tr("Alt+Up, Alt+Down"), tr("move the line")) +
      row(tr("double click, F2"), tr("change batch, stream or waits")) + row(tr("Del"), tr("drop the line")) +
      row(tr("Ctrl+Z, Ctrl+Shift+Z"), tr("undo, redo")) + mouse_rows() + QStringLiteral("</table>");
  left += QStringLiteral("</table>");
  constexpr int kColumn = 410;  // pixels: two fit into a small screen
  auto* columns = new QHBoxLayout;
  for (const QString& text : {left, right}) {
    auto* label = new QLabel(text);
    label->setTextFormat(Qt::RichText);
    label->setAlignment(Qt::AlignTop);
    label->setWordWrap(true);
    label->setMinimumWidth(kColumn);
    columns->addWidget(label);
    columns->addSpacing(30);
  }
  auto* close = new QDialogButtonBox(QDialogButtonBox::Close);
  connect(close, &QDialogButtonBox::rejected, this, &QDialog::reject);
  auto* all = new QVBoxLayout(this);
  all->addLayout(columns);
  all->addWidget(close);
}

}  // namespace interlace::gui
