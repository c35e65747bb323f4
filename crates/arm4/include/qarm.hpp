// qarm.hpp: ARM for Qt 6: transactions with signals and slots, over arm4.hpp.
//
//   QArm::Application arm("CWP", "radar", "position 7");
//   const QArm::TransactionClass redraw = arm.transactionClass("redraw");
//   {
//     QArm::Transaction t(redraw, receivedCorrelator);   // starts
//     t.addProperty("sector", "north");
//     emit plotted(t.correlator());                       // travels with a message
//   }                                                     // Good, or Aborted by an exception
//
//   // Measures without a line in the code that is measured:
//   auto *load = new QArm::Transaction(arm.transactionClass("load"), QArm::startLater, reply);
//   connect(manager, &Manager::requested, load, &QArm::Transaction::start);
//   connect(reply, &Reply::finished, load, &QArm::Transaction::stop);
//   connect(load, &QArm::Transaction::stopped, panel, &Panel::showElapsed);
//
// Building: this header has Q_OBJECT, so moc has to read it. Name it among the program's headers:
// with CMake (AUTOMOC) as a source of the target, with qmake in HEADERS. Links with libarm4 and
// QtCore; no event loop and no QCoreApplication is needed, also not when a transaction ends.
//
// Threads: a Transaction belongs to the thread of QObject::thread(), as every QObject. Call it
// there, or by queued connections from elsewhere; a queued stop() is executed, and its time read,
// when the event loop comes to it. Without an owner a running one may be moved by moveToThread()
// and ends where it then lives. Application and TransactionClass may be used by all threads.
//
// Exceptions: nothing here throws but what Qt's containers throw when memory ends. An exception
// that leaves a directly connected slot goes no further than the emission, and a warning says so.
#ifndef QARM_HPP_INCLUDED
#define QARM_HPP_INCLUDED

#include <QtCore/QByteArray>
#include <QtCore/QElapsedTimer>
#include <QtCore/QList>
#include <QtCore/QMetaMethod>
#include <QtCore/QObject>
#include <QtCore/QPair>
#include <QtCore/QString>
#include <exception>

#include "arm4.hpp"

namespace QArm {

// Names and values, in their order.
using Properties = QList<QPair<QString, QString>>;

// A transaction class of a running application; freely copied.
using TransactionClass = chronoscope::arm::TransactionClass;

// Names and values in UTF-8, in the form of ARM's sub-buffers: at most 20.
class PropertyList {
 public:
  PropertyList() = default;
  // Of `whose` registration: further ones are left out, and a warning says so.
  PropertyList(const Properties &from, const QString &whose) {
    for (const QPair<QString, QString> &property : from) {
      if (set(property.first, property.second)) continue;
      qWarning("QArm: %s: property %s is left out: a name is empty, or ARM's 20 are full",
               qPrintable(whose), qPrintable(property.first));
    }
  }

  // Adds a property, or replaces its value; false when it has no name or there are 20.
  bool set(const QString &name, const QString &value) {
    if (name.isEmpty()) return false;
    const QByteArray own = name.toUtf8();
    for (Pair &pair : pairs_) {
      if (pair.first != own) continue;
      pair.second = value.toUtf8();
      return true;
    }
    if (pairs_.size() == ARM_PROPERTY_MAX_COUNT) return false;
    pairs_.append(Pair(own, value.toUtf8()));
    return true;
  }
  void clear() { pairs_.clear(); }
  int size() const { return static_cast<int>(pairs_.size()); }

  // Writes them; what is written points into this object.
  void write(arm_property_t *to) const {
    for (const Pair &pair : pairs_) *to++ = {pair.first.constData(), pair.second.constData()};
  }

 private:
  using Pair = QPair<QByteArray, QByteArray>;
  QList<Pair> pairs_;
};

// An application and its running instance; both end with the object. Transactions that are then
// open go on; new ones are not recorded.
class Application {
 public:
  // The properties are those of every transaction of it.
  explicit Application(const QString &name, const QString &group = QString(),
                       const QString &instance = QString(),
                       const Properties &identity = Properties())
      : application_(make(name, group, instance, PropertyList(identity, name))) {}

  // A class of its transactions; the same name is the same class. The properties are those of every
  // transaction that is started with what this returns.
  TransactionClass transactionClass(const QString &name,
                                    const Properties &identity = Properties()) const {
    const PropertyList list(identity, name);
    arm_property_t array[ARM_PROPERTY_MAX_COUNT];
    list.write(array);
    arm_subbuffer_tran_identity_t own = {};
    own.header.format = ARM_SUBBUFFER_TRAN_IDENTITY;
    own.identity_property_count = list.size();
    own.identity_property_array = array;
    arm_subbuffer_t *buffers[] = {ARM_SB(own)};
    const arm_buffer4_t buffer = {1, buffers};
    return application_.transaction_class(name.toUtf8().constData(), &buffer);
  }

  // False when its name is empty or the library's tables are full: nothing is then recorded.
  bool isRunning() const noexcept { return application_.running(); }

 private:
  static chronoscope::arm::Application make(const QString &name, const QString &group,
                                            const QString &instance, const PropertyList &list) {
    arm_property_t array[ARM_PROPERTY_MAX_COUNT];
    list.write(array);
    arm_subbuffer_app_identity_t own = {};
    own.header.format = ARM_SUBBUFFER_APP_IDENTITY;
    own.identity_property_count = list.size();
    own.identity_property_array = array;
    arm_subbuffer_t *buffers[] = {ARM_SB(own)};
    const arm_buffer4_t buffer = {1, buffers};
    const QByteArray named = name.toUtf8(), grouped = group.toUtf8(), unit = instance.toUtf8();
    return chronoscope::arm::Application(named.constData(),
                                         group.isEmpty() ? nullptr : grouped.constData(),
                                         instance.isEmpty() ? nullptr : unit.constData(), &buffer);
  }

  chronoscope::arm::Application application_;
};

// Says that a Transaction is not started by its constructor.
struct StartLater {};
constexpr StartLater startLater;

// A transaction, or one after the other: what is open ends with the object.
//
// Signals come in the order of the calls, and also where the library records nothing (a class that
// is switched off, a full table), so that no program behaves differently because it is measured.
class Transaction : public QObject {
  Q_OBJECT
  Q_DISABLE_COPY_MOVE(Transaction)
  Q_PROPERTY(bool running READ isRunning)

 public:
  enum class Status {
    Good = ARM_STATUS_GOOD,
    Aborted = ARM_STATUS_ABORTED,
    Failed = ARM_STATUS_FAILED,
    Unknown = ARM_STATUS_UNKNOWN
  };
  Q_ENUM(Status)

  // Starts, as the root of a chain or under whoever issued the correlator `parent`. `owner` is the
  // parent of QObject's kind, and has no part in the chain.
  explicit Transaction(const TransactionClass &of, const QByteArray &parent = QByteArray(),
                       QObject *owner = nullptr)
      : QObject(owner), class_(of) {
    begin(parent);
  }
  // start() or startUnder() starts it.
  Transaction(const TransactionClass &of, StartLater, QObject *owner = nullptr)
      : QObject(owner), class_(of) {}
  // Good, or Aborted where an exception unwinds that was not there when it started. stopped() is
  // emitted here too.
  ~Transaction() override {
    end(std::uncaught_exceptions() > exceptions_ ? Status::Aborted : Status::Good);
  }

  bool isRunning() const noexcept { return running_; }
  // Since its start, in nanoseconds; 0 when none is open. Read beside the library's own times: the
  // recorded time is longer by the calls themselves.
  qint64 elapsedNs() const noexcept { return running_ ? timer_.nsecsElapsed() : 0; }

  // Its octets for messages: the parent of what is started with them. Empty when none is open.
  QByteArray correlator() const { return octets(transaction_.correlator()); }
  // The same as a W3C trace context header, for a QNetworkRequest.
  QByteArray traceparent() const {
    return QByteArray(transaction_.correlator().traceparent().text);
  }
  // A correlator from such a header; empty when it is none.
  static QByteArray fromTraceparent(const QByteArray &header) {
    return octets(chronoscope::arm::Correlator::from_traceparent(header.constData()));
  }
  // Of the transaction that the calling thread is bound to; empty when there is none.
  static QByteArray currentCorrelator() {
    return octets(chronoscope::arm::Correlator::current());
  }

  // A property of the open transaction, or of the next when none is open; a name that is there gets
  // the new value. False when it has no name, or ARM's 20 are full. It is recorded at the end.
  bool addProperty(const QString &name, const QString &value) {
    return properties_.set(name, value);
  }

  // For chronoscope::arm::BoundThread and Blocked, and for the functions of arm4.h.
  const chronoscope::arm::Transaction &transaction() const noexcept { return transaction_; }

 public Q_SLOTS:
  // Starts as the root of a chain; does nothing when one is open.
  void start() { startUnder(QByteArray()); }
  // Starts under whoever issued the correlator; does nothing when one is open.
  void startUnder(const QByteArray &parent) {
    if (running_) return;
    begin(parent);
    static const QMetaMethod signal = QMetaMethod::fromSignal(&Transaction::started);
    if (!isSignalConnected(signal)) return;
    const QByteArray own = correlator();
    guarded([&] { Q_EMIT started(own); });
  }
  // Ends it; these do nothing when none is open.
  void stop() { end(Status::Good); }
  void stopAs(QArm::Transaction::Status status) { end(status); }
  // Failed, with what went wrong.
  void fail(const QString &detail) { end(Status::Failed, detail); }
  // As if it had never been started.
  void discard() {
    if (!running_) return;
    running_ = false;
    properties_.clear();
    transaction_.discard();
    guarded([this] { Q_EMIT discarded(); });
  }

 Q_SIGNALS:
  // Not emitted by the constructor that starts: nobody can be connected there.
  void started(const QByteArray &correlator);
  void stopped(qint64 elapsedNs, QArm::Transaction::Status status);
  void discarded();

 private:
  static QByteArray octets(const chronoscope::arm::Correlator &correlator) {
    return QByteArray(reinterpret_cast<const char *>(correlator.data()),
                      static_cast<qsizetype>(correlator.size()));
  }

  void begin(const QByteArray &parent) {
    const chronoscope::arm::Correlator from(parent.constData(),
                                            static_cast<std::size_t>(parent.size()));
    exceptions_ = std::uncaught_exceptions();
    transaction_ = chronoscope::arm::Transaction(class_, from);
    timer_.start();
    running_ = true;
  }

  // A slot may delete the object: nothing of it is touched after the emission.
  void end(Status status, const QString &detail = QString()) {
    if (!running_) return;
    const qint64 elapsedNs = timer_.nsecsElapsed();
    running_ = false;
    arm_property_t array[ARM_PROPERTY_MAX_COUNT];
    properties_.write(array);
    arm_subbuffer_diag_properties_t own = {};
    own.header.format = ARM_SUBBUFFER_DIAG_PROPERTIES;
    own.tran_property_count = properties_.size();
    own.tran_property_array = array;
    const QByteArray text = detail.toUtf8();
    arm_subbuffer_diag_detail_t diag = {};
    diag.header.format = ARM_SUBBUFFER_DIAG_DETAIL;
    diag.diag_detail = text.constData();
    // A NULL entry is none.
    arm_subbuffer_t *buffers[] = {properties_.size() > 0 ? ARM_SB(own) : nullptr,
                                  text.isEmpty() ? nullptr : ARM_SB(diag)};
    const arm_buffer4_t buffer = {2, buffers};
    const bool plain = buffers[0] == nullptr && buffers[1] == nullptr;
    transaction_.stop(static_cast<arm_tran_status_t>(status), plain ? nullptr : &buffer);
    properties_.clear();
    guarded([&] { Q_EMIT stopped(elapsedNs, status); });
  }

  template <typename Emission>
  static void guarded(const Emission &emission) noexcept {
    QT_TRY {
      emission();
    }
    QT_CATCH(...) {
      qWarning("QArm: a slot that is connected to a transaction threw an exception: it ends here");
    }
  }

  TransactionClass class_;
  chronoscope::arm::Transaction transaction_;
  PropertyList properties_;
  QElapsedTimer timer_;
  int exceptions_ = 0;
  bool running_ = false;
};

}  // namespace QArm

#endif
