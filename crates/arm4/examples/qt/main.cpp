// A working position: tracks arrive in one thread and are drawn in another, and each redraw is a
// child of the transaction that received its track. Prints what the drawing took, by a signal.
//
//   chronoscope live      # in another terminal, or: chronoscope serve
#include <QtCore/QCoreApplication>
#include <QtCore/QObject>
#include <QtCore/QThread>
#include <QtCore/QTimer>
#include <cmath>
#include <cstdio>
#include <qarm.hpp>

int main(int count, char **arguments) {
  QCoreApplication application(count, arguments);
  const QArm::Application arm("position", "example");
  const QArm::TransactionClass receive = arm.transactionClass("receiveTrack");
  const QArm::TransactionClass redraw = arm.transactionClass("redraw", {{"layer", "tracks"}});

  QThread thread;
  QObject display;  // lives in the thread that draws
  display.moveToThread(&thread);
  QObject::connect(&application, &QCoreApplication::aboutToQuit, &thread, &QThread::quit);
  thread.start();

  QTimer radar;
  int tracks = 0;
  QObject::connect(&radar, &QTimer::timeout, [&] {
    QArm::Transaction received(receive);
    received.addProperty("track", QString::number(++tracks));
    // The correlator travels with the track, as it would with a message to another process.
    QMetaObject::invokeMethod(&display, [&, parent = received.correlator()] {
      QArm::Transaction own(redraw, parent);
      QObject::connect(&own, &QArm::Transaction::stopped, &application, [&](qint64 elapsedNs) {
        std::printf("drawn in %lld us\n", static_cast<long long>(elapsedNs / 1000));
        if (tracks == 5) application.quit();
      });
      double pixels = 0;
      for (int i = 0; i < 100000; i++) pixels += std::sin(i);
      own.addProperty("pixels", QString::number(pixels));
    });
  });
  radar.start(100);
  const int code = QCoreApplication::exec();
  thread.wait();
  return code;
}
