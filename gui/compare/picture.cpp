#include "gui/compare/picture.hpp"

#include <QImage>
#include <QPageLayout>
#include <QPdfWriter>
#include <QSaveFile>
#include <QSvgGenerator>
#include <algorithm>
#include <cmath>

#include "gui/compare/legend.hpp"
#include "gui/timeline/draw_pane.hpp"

namespace interlace::gui {

namespace {

constexpr double kTitle = 30;

[[noreturn]] void fail(const std::filesystem::path& file, const QString& why) {
  throw Error(kCannotWritePicture, file.string(), "the picture cannot be written: " + why.toStdString(),
              "check the folder, its permissions and the room on the disk");
}

void paint_on(QPaintDevice& device, const Picture& picture, double scale, const std::filesystem::path& file) {
  QPainter painter;
  if (!painter.begin(&device)) fail(file, QStringLiteral("no drawing could be begun"));
  painter.scale(scale, scale);
  draw_picture(painter, picture);
  painter.end();
}

void write_png(const Picture& picture, const QSize& size, QIODevice& device, const std::filesystem::path& file) {
  constexpr int kMostDrawn = 32'767;  // what lies beyond is left out by Qt without a word
  QImage image(size, QImage::Format_RGB32);
  if (image.isNull() || std::max(size.width(), size.height()) > kMostDrawn) {
    throw Error(kCannotWritePicture, file.string(), "the picture is too large for a .png",
                "fold lanes, or end the name in .svg or .pdf");
  }
  paint_on(image, picture, 1, file);
  if (!image.save(&device, "PNG")) fail(file, device.errorString());
}

void write_svg(const Picture& picture, const QSize& size, QIODevice& device, const std::filesystem::path& file) {
  QSvgGenerator generator;
  generator.setOutputDevice(&device);
  generator.setSize(size);
  generator.setViewBox(QRect(QPoint(0, 0), size));
  generator.setTitle(picture.title);
  paint_on(generator, picture, 1, file);
}

void write_pdf(const Picture& picture, const QSize& size, QIODevice& device, const std::filesystem::path& file) {
  constexpr int kDotsPerInch = 96;
  constexpr double kPointsPerPixel = 72.0 / kDotsPerInch;
  QPdfWriter writer(&device);
  writer.setResolution(kDotsPerInch);
  writer.setPageSize(QPageSize(QSizeF(size) * kPointsPerPixel, QPageSize::Point));
  writer.setPageMargins(QMarginsF(0, 0, 0, 0));
  writer.setTitle(picture.title);
  paint_on(writer, picture, 1, file);
}

}  // namespace

double Picture::head_height() const { return (title.isEmpty() ? 0 : kTitle) + legend_height(legend, width); }

QRectF Picture::pane_area(std::size_t pane) const {
  double y = head_height();
  for (std::size_t i = 0;; ++i) {
    y += panes[i].leads_height;
    if (i == pane) return {0, y, width, panes[i].height};
    y += panes[i].height + panes[i].memory_height;
  }
}

double Picture::height() const {
  if (panes.empty()) return head_height();
  return pane_area(panes.size() - 1).bottom() + panes.back().memory_height;
}

QSize Picture::size() const { return {static_cast<int>(std::lround(width)), static_cast<int>(std::lround(height()))}; }

void draw_picture(QPainter& painter, const Picture& picture) {
  const Theme& colours = theme(picture.theme);
  painter.fillRect(QRectF(0, 0, picture.width, picture.height()), colours.strip);
  double y = 0;
  if (!picture.title.isEmpty()) {
    QFont font;
    font.setPixelSize(16);
    font.setBold(true);
    painter.setFont(font);
    painter.setPen(colours.text);
    painter.drawText(QRectF(8, 0, picture.width - 16, kTitle), Qt::AlignVCenter | Qt::TextSingleLine, picture.title);
    y += kTitle;
  }
  draw_legend(painter, picture.legend, QRectF(0, y, picture.width, legend_height(picture.legend, picture.width)),
              colours);
  for (std::size_t i = 0; i < picture.panes.size(); ++i) {
    const PicturePane& pane = picture.panes[i];
    const QRectF area = picture.pane_area(i);
    if (pane.leads) {
      const QRectF above(0, area.top() - pane.leads_height, picture.width, pane.leads_height);
      draw_difference(painter, *pane.leads, pane.content.view, above, colours);
    }
    LabelCache labels(pane.content.scene->trace());
    draw_pane(painter, pane.content, area, colours, labels);
    if (pane.memory) {
      draw_memory(painter, *pane.memory, QRectF(0, area.bottom(), picture.width, pane.memory_height), colours);
    }
  }
}

void write_picture(const Picture& picture, const std::filesystem::path& file) {
  const std::string end = file.extension().string();
  const QSize size = picture.size();
  // What was there stays until all is written. Opened first, so that a failure is told in the system's words.
  QSaveFile device(QString::fromStdString(file.string()));
  const auto write = [&](auto writer) {
    if (!device.open(QIODevice::WriteOnly)) fail(file, device.errorString());
    writer(picture, size, device, file);
    if (!device.commit()) fail(file, device.errorString());
  };
  if (end == ".png") return write(write_png);
  if (end == ".svg") return write(write_svg);
  if (end == ".pdf") return write(write_pdf);
  throw Error(kUnknownPictureFormat, file.string(), "the name does not tell the format of the picture",
              "end it in .png, .svg or .pdf");
}

}  // namespace interlace::gui
