// arm4.hpp: a worker thread that is handed transactions with their messages, as the slots of a Qt
// program are.
#include <arm4.hpp>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

namespace arm = chronoscope::arm;

struct Message {
  std::vector<std::uint8_t> correlator;
  arm::Transaction waiting;  // started by the sender, stopped by the receiver
};

int main() {
  arm::Application app("CWP", "radar", "position 7");
  if (!app.running()) return 1;
  const arm::TransactionClass receive = app.transaction_class("receive");
  const arm::TransactionClass queue = app.transaction_class("queue");
  const arm::TransactionClass redraw = app.transaction_class("redraw");
  const arm::TransactionClass broken = app.transaction_class("broken");
  const arm::TransactionClass gone = app.transaction_class("gone");

  std::mutex mutex;
  std::condition_variable filled;
  std::deque<Message> messages;
  std::thread worker([&] {
    for (int i = 0; i < 3; i++) {
      std::unique_lock<std::mutex> lock(mutex);
      filled.wait(lock, [&] { return !messages.empty(); });
      Message message = std::move(messages.front());
      messages.pop_front();
      lock.unlock();
      message.waiting.stop();
      arm::Correlator parent(message.correlator.data(), message.correlator.size());
      arm::Transaction own(redraw, parent);
      arm::BoundThread bound(own);
      if (arm::Correlator::current().empty()) own.fail("not bound");
    }
  });
  for (int i = 0; i < 3; i++) {
    arm::Correlator corr;
    arm::Transaction own(receive, arm::Correlator(), corr);
    corr.set_asynchronous(true);
    Message message;
    message.correlator.assign(corr.data(), corr.data() + corr.size());
    message.waiting = arm::Transaction(queue, own.correlator());
    std::lock_guard<std::mutex> lock(mutex);
    messages.push_back(std::move(message));
    filled.notify_one();
  }
  worker.join();

  try {
    arm::Transaction own(broken);
    throw std::runtime_error("broken");
  } catch (const std::runtime_error &) {
    arm::Transaction fine(broken);  // a handler is no unwinding
  }
  arm::Transaction failed(broken);
  failed.fail("disk full");
  arm::Transaction discarded(gone);
  discarded.discard();
  arm::Correlator w3c =
      arm::Correlator::from_traceparent("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
  if (std::strlen(w3c.traceparent().text) != 55) return 2;
  if (!arm::Correlator("xx", 2).empty() || !arm::Correlator::current().empty()) return 3;
  return 0;
}
