// qarm.hpp: an event loop, a worker thread that gets correlators by queued signals, transactions
// that only signals start and stop, cancelled and broken ones, and some without QCoreApplication.
// Exit code: 0, or the line of the first check that failed.
#include <QtCore/QCoreApplication>
#include <QtCore/QThread>
#include <QtCore/QTimer>
#include <cstdio>
#include <memory>
#include <qarm.hpp>
#include <stdexcept>

#define CHECK(condition)                                                  \
  do {                                                                    \
    if (!(condition)) {                                                   \
      std::fprintf(stderr, "line %d: not so: %s\n", __LINE__, #condition); \
      std::_Exit(1);                                                      \
    }                                                                     \
  } while (false)

constexpr int MESSAGES = 3;

// Redraws in its own thread, under the correlator that came with the message.
class Worker : public QObject {
  Q_OBJECT

 public:
  explicit Worker(const QArm::TransactionClass &redraw) : redraw_(redraw) {}

 public Q_SLOTS:
  void draw(const QByteArray &correlator) {
    QArm::Transaction own(redraw_, correlator);
    connect(&own, &QArm::Transaction::stopped, this, &Worker::drawn);
    chronoscope::arm::BoundThread bound(own.transaction());
    CHECK(QArm::Transaction::currentCorrelator() == own.correlator());
    CHECK(QThread::currentThread() == thread());
  }
  // Ends what was begun in another thread and moved here.
  void take(QArm::Transaction *handed) {
    CHECK(handed->thread() == QThread::currentThread());
    handed->stopAs(QArm::Transaction::Status::Failed);
    handed->deleteLater();
  }

 Q_SIGNALS:
  void drawn(qint64 elapsedNs, QArm::Transaction::Status status);

 private:
  QArm::TransactionClass redraw_;
};

// Receives in the thread of the event loop, and sends the correlator on.
class Receiver : public QObject {
  Q_OBJECT

 public:
  explicit Receiver(const QArm::Application &arm)
      : receive_(arm.transactionClass("receive")), decode_(arm.transactionClass("decode")) {}

 public Q_SLOTS:
  void next() {
    QArm::Transaction own(receive_);
    own.addProperty(QStringLiteral("sector"), QStringLiteral("Nord-Süd"));
    CHECK(own.addProperty(QStringLiteral("number"), QStringLiteral("?")));
    CHECK(own.addProperty(QStringLiteral("number"), QString::number(received_)));
    CHECK(!own.addProperty(QString(), QStringLiteral("no name")));
    {
      QArm::Transaction nested(decode_, own.correlator());
      CHECK(nested.isRunning());
    }
    received_++;
    Q_EMIT message(own.correlator());
  }
  // Comes from the worker's thread, queued.
  void drawn(qint64 elapsedNs, QArm::Transaction::Status status) {
    CHECK(QThread::currentThread() == thread());
    CHECK(elapsedNs >= 0 && status == QArm::Transaction::Status::Good);
    if (received_ < MESSAGES) {
      next();
    } else {
      Q_EMIT done();
    }
  }

 Q_SIGNALS:
  void message(const QByteArray &correlator);
  void done();

 private:
  QArm::TransactionClass receive_, decode_;
  int received_ = 0;
};

// A pipeline over two threads; quits the event loop behind its last message.
static void loop(QCoreApplication &application, const QArm::Application &arm) {
  QThread thread;
  Worker worker(arm.transactionClass("redraw", {{"layer", "tracks"}}));
  worker.moveToThread(&thread);
  Receiver receiver(arm);
  QObject::connect(&receiver, &Receiver::message, &worker, &Worker::draw);
  QObject::connect(&worker, &Worker::drawn, &receiver, &Receiver::drawn);

  // Started and stopped by signals of others alone, over and over; by string and by pointer.
  QTimer timer;
  timer.setInterval(20);
  QArm::Transaction wait(arm.transactionClass("wait"), QArm::startLater);
  int waits = 0;
  qint64 waitedNs = 0;
  QObject::connect(&receiver, SIGNAL(message(QByteArray)), &wait, SLOT(startUnder(QByteArray)));
  QObject::connect(&timer, &QTimer::timeout, &wait, &QArm::Transaction::stop);
  QObject::connect(&wait, &QArm::Transaction::stopped, &receiver,
                   [&](qint64 elapsedNs, QArm::Transaction::Status) {
                     waits++;
                     waitedNs = elapsedNs;
                     CHECK(!wait.isRunning() && wait.elapsedNs() == 0);
                     CHECK(wait.correlator().isEmpty());
                     application.quit();
                   });
  QObject::connect(&receiver, &Receiver::done, &timer, qOverload<>(&QTimer::start));

  auto *handed = new QArm::Transaction(arm.transactionClass("handed over"));
  handed->moveToThread(&thread);
  QMetaObject::invokeMethod(&worker, [&worker, handed] { worker.take(handed); });

  thread.start();
  QTimer::singleShot(0, &receiver, &Receiver::next);
  CHECK(QCoreApplication::exec() == 0);
  thread.quit();
  CHECK(thread.wait());
  // Started by the first message; the further ones found it open. The timer ran in it.
  CHECK(waits == 1 && waitedNs >= 10'000'000);
}

// Signals of one transaction, in their order.
static void signalled(const QArm::Application &arm) {
  QByteArrayList seen;
  QArm::Transaction own(arm.transactionClass("signalled"), QArm::startLater);
  QObject::connect(&own, &QArm::Transaction::started, &own, [&](const QByteArray &correlator) {
    CHECK(correlator == own.correlator());
    seen << "started";
  });
  QObject::connect(&own, &QArm::Transaction::stopped, &own,
                   [&](qint64, QArm::Transaction::Status status) {
                     seen << "stopped " + QByteArray::number(static_cast<int>(status));
                   });
  QObject::connect(&own, &QArm::Transaction::discarded, &own, [&] { seen << "discarded"; });
  own.stop();
  own.discard();
  own.start();
  own.start();
  own.fail(QStringLiteral("disk full"));
  own.startUnder("no correlator");
  own.addProperty(QStringLiteral("lost"), QStringLiteral("with it"));
  own.discard();
  own.start();
  own.stopAs(QArm::Transaction::Status::Aborted);
  const QByteArrayList want{"started",   "stopped 2", "started",  "discarded",
                            "started", "stopped 1"};
  CHECK(seen == want);
}

static void broken(const QArm::Application &arm) {
  const QArm::TransactionClass of = arm.transactionClass("broken");
  try {
    QArm::Transaction own(of);
    throw std::runtime_error("broken");
  } catch (const std::runtime_error &) {
    QArm::Transaction fine(of);
  }
  // A slot's exception ends at the emission, also where a destructor emits.
  int thrown = 0;
  const auto throws = [&thrown] {
    thrown++;
    throw std::runtime_error("of a slot");
  };
  QArm::Transaction own(of);
  QObject::connect(&own, &QArm::Transaction::stopped, &own, throws);
  own.stop();
  {
    QArm::Transaction destroyed(of);
    QObject::connect(&destroyed, &QArm::Transaction::stopped, &own, throws);
  }
  CHECK(thrown == 2);
  // A slot may delete the transaction that signals.
  auto *deleted = new QArm::Transaction(of);
  QObject::connect(deleted, &QArm::Transaction::stopped, deleted, [&] { delete deleted; });
  deleted->stop();
}

static void limits(const QArm::Application &arm) {
  QArm::Transaction own(arm.transactionClass("full"));
  for (int i = 0; i < 20; i++) CHECK(own.addProperty(QStringLiteral("p%1").arg(i), "v"));
  CHECK(!own.addProperty("p20", "v"));
  CHECK(own.addProperty("p19", "w"));
  const QByteArray header = own.traceparent();
  CHECK(header.size() == 55 && !QArm::Transaction::fromTraceparent(header).isEmpty());
  CHECK(QArm::Transaction::fromTraceparent("no header").isEmpty());

  // Without a name there is no application, and nothing is recorded; signals come all the same.
  const QArm::Application none{QString()};
  CHECK(!none.isRunning());
  int stopped = 0;
  QArm::Transaction lost(none.transactionClass("lost"));
  QObject::connect(&lost, &QArm::Transaction::stopped, &lost, [&] { stopped++; });
  CHECK(lost.isRunning() && lost.correlator().isEmpty());
  lost.stop();
  CHECK(stopped == 1);
}

// Ends behind main(), when the thread has ended for the recorder: lost, and harmless.
static std::unique_ptr<QArm::Transaction> last;

int main(int count, char **arguments) {
  auto application = std::make_unique<QCoreApplication>(count, arguments);
  const QArm::Application arm("CWP", "radar", "position 7", {{"site", "Langen"}});
  CHECK(arm.isRunning());
  QArm::Transaction late(arm.transactionClass("late"));
  int stopped = 0;
  QObject::connect(&late, &QArm::Transaction::stopped, [&] { stopped++; });
  loop(*application, arm);
  signalled(arm);
  broken(arm);
  limits(arm);
  application.reset();
  CHECK(QCoreApplication::instance() == nullptr);
  late.stop();
  CHECK(stopped == 1);
  last = std::make_unique<QArm::Transaction>(arm.transactionClass("last"));
  return 0;
}

#include "events.moc"
