// arm4.hpp: ARM for C++11 and later, over arm4.h. Header only.
//
//   chronoscope::arm::Application app("CWP", "radar", "position 7");
//   static const auto redraw = app.transaction_class("redraw");
//   {
//     chronoscope::arm::Transaction t(redraw, received_correlator);
//     t.correlator();              // travels with a message
//     t.stop(ARM_STATUS_FAILED);   // or leave the scope: GOOD, or ABORTED by an exception
//   }
//
// Objects own what they stand for and can be moved, not copied. Nothing here throws, allocates
// after construction of an Application, or needs an event loop. For Qt there is qarm.hpp.
#ifndef ARM4_HPP_INCLUDED
#define ARM4_HPP_INCLUDED

#include <cstdint>
#include <cstring>
#include <exception>

#include "arm4_chronoscope.h"

namespace chronoscope {
namespace arm {

// The token that travels with a message; empty until it is given one.
class Correlator {
 public:
  Correlator() noexcept { corr_.opaque[0] = corr_.opaque[1] = 0; }

  // From octets that came with a message; empty when they are none.
  Correlator(const void *octets, std::size_t size) noexcept : Correlator() {
    if (octets == nullptr || size < ARM_CORR_MIN_LENGTH || size > ARM_CORR_MAX_LENGTH) return;
    std::memcpy(corr_.opaque, octets, size);
    arm_correlator_length_t length = 0;
    arm_get_correlator_length(&corr_, &length);
    if (length <= 0 || static_cast<std::size_t>(length) > size) *this = Correlator();
  }

  // From a W3C trace context header; empty when it is none.
  static Correlator from_traceparent(const char *header) noexcept {
    Correlator correlator;
    chronoscope_correlator_from_traceparent(header, &correlator.corr_);
    return correlator;
  }

  // Of what the calling thread works for; empty when that is nothing.
  static Correlator current() noexcept {
    Correlator correlator;
    chronoscope_current_correlator(&correlator.corr_);
    return correlator;
  }

  bool empty() const noexcept { return size() == 0; }
  const std::uint8_t *data() const noexcept { return corr_.opaque; }
  std::size_t size() const noexcept {
    arm_correlator_length_t length = 0;
    if ((corr_.opaque[0] | corr_.opaque[1]) != 0) arm_get_correlator_length(&corr_, &length);
    return static_cast<std::size_t>(length);
  }

  // The W3C trace context header; an empty text when there is none.
  struct Header {
    char text[56];
  };
  Header traceparent() const noexcept {
    Header header = {{0}};
    if (!empty()) chronoscope_correlator_to_traceparent(&corr_, header.text);
    return header;
  }

  // ARM 4.1: whoever issued it does not wait for those that receive it.
  void set_asynchronous(bool on) noexcept {
    ARM_SET_CORRELATOR_FLAG(&corr_, ARM_CORR_FLAGNUM_ASYNCH, on);
  }
  // ARM 4.1: the status of those that receive it does not touch that of the one that issued it.
  void set_independent(bool on) noexcept {
    ARM_SET_CORRELATOR_FLAG(&corr_, ARM_CORR_FLAGNUM_INDEPENDENT, on);
  }

  // For the functions of arm4.h: null when empty.
  const arm_correlator_t *get() const noexcept { return empty() ? nullptr : &corr_; }
  // To be written to.
  arm_correlator_t *out() noexcept { return &corr_; }

 private:
  arm_correlator_t corr_;
};

// A transaction class of a running application; freely copied.
class TransactionClass {
 public:
  TransactionClass() noexcept : app_(0), id_() {}
  TransactionClass(arm_app_start_handle_t app, const arm_id_t &id) noexcept : app_(app), id_(id) {}

  arm_app_start_handle_t application() const noexcept { return app_; }
  const arm_id_t *id() const noexcept { return &id_; }

  // What it is to record, of CHRONOSCOPE_CONTROL_...
  void control(std::int32_t what, bool on) const noexcept { chronoscope_control(&id_, what, on); }

 private:
  arm_app_start_handle_t app_;
  arm_id_t id_;
};

// An application and its running instance; both end with the object.
class Application {
 public:
  // `identity` has the sub-buffers of its registration.
  explicit Application(const char *name, const char *group = nullptr,
                       const char *instance = nullptr,
                       const arm_buffer4_t *identity = nullptr) noexcept
      : id_(), handle_(0) {
    arm_register_application(name, nullptr, ARM_FLAG_NONE, identity, &id_);
    arm_start_application(&id_, group, instance, ARM_FLAG_NONE, nullptr, &handle_);
  }
  Application(Application &&other) noexcept : id_(other.id_), handle_(other.handle_) {
    other.handle_ = 0;
  }
  Application &operator=(Application &&other) noexcept {
    if (this != &other) {
      end();
      id_ = other.id_;
      handle_ = other.handle_;
      other.handle_ = 0;
    }
    return *this;
  }
  Application(const Application &) = delete;
  Application &operator=(const Application &) = delete;
  ~Application() { end(); }

  // A class of its transactions; the same name is the same class. `identity` has the sub-buffers
  // of its registration.
  TransactionClass transaction_class(const char *name,
                                     const arm_buffer4_t *identity = nullptr) const noexcept {
    arm_id_t id = arm_id_t();
    arm_register_transaction(&id_, name, nullptr, ARM_FLAG_NONE, identity, &id);
    return TransactionClass(handle_, id);
  }

  bool running() const noexcept { return handle_ != 0; }
  arm_app_start_handle_t handle() const noexcept { return handle_; }
  const arm_id_t *id() const noexcept { return &id_; }

 private:
  void end() noexcept {
    if (handle_ == 0) return;
    arm_stop_application(handle_, ARM_FLAG_NONE, nullptr);
    arm_destroy_application(&id_, ARM_FLAG_NONE, nullptr);
    handle_ = 0;
  }

  arm_id_t id_;
  arm_app_start_handle_t handle_;
};

// A transaction; ends where the object does.
class Transaction {
 public:
  Transaction() noexcept : handle_(0), exceptions_(0) {}

  // Starts, as the root of a chain or under whoever issued `parent`.
  explicit Transaction(const TransactionClass &of, const Correlator &parent = Correlator(),
                       const arm_buffer4_t *buffer = nullptr) noexcept
      : handle_(0), exceptions_(exceptions()) {
    arm_start_transaction(of.application(), of.id(), parent.get(), ARM_FLAG_NONE, buffer, &handle_,
                          nullptr);
  }

  // As above; `own` receives its correlator.
  Transaction(const TransactionClass &of, const Correlator &parent, Correlator &own,
              const arm_buffer4_t *buffer = nullptr) noexcept
      : handle_(0), exceptions_(exceptions()) {
    arm_start_transaction(of.application(), of.id(), parent.get(), ARM_FLAG_NONE, buffer, &handle_,
                          own.out());
  }

  Transaction(Transaction &&other) noexcept
      : handle_(other.release()), exceptions_(other.exceptions_) {}
  Transaction &operator=(Transaction &&other) noexcept {
    if (this != &other) {
      end();
      exceptions_ = other.exceptions_;
      handle_ = other.release();
    }
    return *this;
  }
  Transaction(const Transaction &) = delete;
  Transaction &operator=(const Transaction &) = delete;
  // GOOD, or ABORTED where an exception unwinds that was not there when it started.
  ~Transaction() { end(); }

  // Its correlator, for messages.
  Correlator correlator() const noexcept {
    Correlator own;
    chronoscope_transaction_correlator(handle_, own.out());
    return own;
  }

  void stop(arm_tran_status_t status = ARM_STATUS_GOOD,
            const arm_buffer4_t *buffer = nullptr) noexcept {
    if (handle_ != 0) arm_stop_transaction(release(), status, ARM_FLAG_NONE, buffer);
  }
  // Stops it and says what went wrong.
  void fail(const char *detail) noexcept {
    arm_subbuffer_diag_detail_t diag;
    diag.header.format = ARM_SUBBUFFER_DIAG_DETAIL;
    diag.diag_detail = detail;
    arm_subbuffer_t *list[] = {ARM_SB(diag)};
    arm_buffer4_t buffer = {1, list};
    stop(ARM_STATUS_FAILED, &buffer);
  }
  void update(const arm_buffer4_t *buffer) noexcept {
    arm_update_transaction(handle_, ARM_FLAG_NONE, buffer);
  }
  // As if it had never been started.
  void discard() noexcept {
    if (handle_ != 0) arm_discard_transaction(release(), ARM_FLAG_NONE, nullptr);
  }
  // Gives the handle away: somebody else stops it.
  arm_tran_start_handle_t release() noexcept {
    arm_tran_start_handle_t handle = handle_;
    handle_ = 0;
    return handle;
  }
  arm_tran_start_handle_t handle() const noexcept { return handle_; }
  explicit operator bool() const noexcept { return handle_ != 0; }

 private:
  static int exceptions() noexcept {
#if defined(__cpp_lib_uncaught_exceptions) || __cplusplus >= 201703L
    return std::uncaught_exceptions();
#else
    return std::uncaught_exception() ? 1 : 0;
#endif
  }
  void end() noexcept {
    stop(exceptions() > exceptions_ ? ARM_STATUS_ABORTED : ARM_STATUS_GOOD);
  }

  arm_tran_start_handle_t handle_;
  int exceptions_;
};

// The calling thread works for a transaction while the object lives. Not to be moved to another
// thread.
class BoundThread {
 public:
  explicit BoundThread(const Transaction &transaction) noexcept : handle_(transaction.handle()) {
    arm_bind_thread(handle_, ARM_FLAG_NONE, nullptr);
  }
  ~BoundThread() { arm_unbind_thread(handle_, ARM_FLAG_NONE, nullptr); }
  BoundThread(const BoundThread &) = delete;
  BoundThread &operator=(const BoundThread &) = delete;

 private:
  arm_tran_start_handle_t handle_;
};

// A transaction waits while the object lives.
class Blocked {
 public:
  explicit Blocked(const Transaction &transaction) noexcept
      : handle_(transaction.handle()), block_(0) {
    arm_block_transaction(handle_, ARM_FLAG_NONE, nullptr, &block_);
  }
  ~Blocked() { arm_unblock_transaction(handle_, block_, ARM_FLAG_NONE, nullptr); }
  Blocked(const Blocked &) = delete;
  Blocked &operator=(const Blocked &) = delete;

 private:
  arm_tran_start_handle_t handle_;
  arm_tran_block_handle_t block_;
};

}  // namespace arm
}  // namespace chronoscope

#endif
