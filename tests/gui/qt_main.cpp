// The main() of tests that need Qt: without a display they draw off the screen.
#include <gtest/gtest.h>

#include <QApplication>
#include <QSettings>
#include <QStandardPaths>
#include <QTemporaryDir>

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  if (!qEnvironmentVariableIsSet("QT_QPA_PLATFORM")) qputenv("QT_QPA_PLATFORM", "offscreen");
  QStandardPaths::setTestModeEnabled(true);
  const QApplication application(argc, argv);
  QCoreApplication::setOrganizationName(QStringLiteral("interlace"));
  QCoreApplication::setApplicationName(QStringLiteral("interlace-gui-test"));
  // Tests run beside each other: what one remembers must not stand in another's menu.
  const QTemporaryDir remembered;
  QSettings::setPath(QSettings::NativeFormat, QSettings::UserScope, remembered.path());
  return RUN_ALL_TESTS();
}
