// The workflow step in C++ over plain HTTP, with libcurl: acknowledge the event, move the order from the version that was read,
// push the next event, in one transaction. Checks itself and ends with a status other than 0 on any doubt.
//
//   LOCKSTEP_URL=http://localhost:6632 ./workflow
#include <array>
#include <chrono>
#include <cstdlib>
#include <future>
#include <iostream>
#include <sstream>

#include "broker.hpp"

namespace {

const char* const kGroup = "workflow";
const int kADay = 86'400;

class Run {
 public:
  explicit Run(const std::string& url) : broker_(url) {
    // Names of this run's own, so that it says the same when it runs again.
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    std::ostringstream run;
    run << std::hex << std::chrono::duration_cast<std::chrono::microseconds>(now).count();
    events_ = "cpp-order-events-" + run.str();
    shipping_ = "cpp-shipping-" + run.str();
    first_ = "order-" + run.str() + "-1";
    second_ = "order-" + run.str() + "-2";
  }

  void all() {
    const long long paid = one_step();
    redelivered();
    race();
    old_version(paid);
    for (const auto& queue : {events_, shipping_}) broker_.remove("/resources/queues/" + queue);
    std::cout << "PASS: " << checks_ << " checks\n";
  }

 private:
  void check(bool holds, const std::string& fact) {
    if (!holds) throw std::runtime_error("not so: " + fact);
    ++checks_;
    std::cout << "  ok: " << fact << "\n";
  }

  // The step itself. The version is the one the decision was made on; success is false when the order has moved.
  json commit_step(const json& event, long long version, const std::string& shipping_id) const {
    const std::string order_id = event["data"]["orderId"];
    json body;
    body["operations"] = {
        {{"type", "ack"},
         {"transactionId", event["transactionId"]},
         {"partitionId", event["partitionId"]},
         {"leaseId", event["leaseId"]},
         {"consumerGroup", kGroup},
         {"status", "completed"}},
        {{"type", "push"},
         {"items", json::array({{{"queue", shipping_},
                                 {"partition", order_id},
                                 {"transactionId", shipping_id},
                                 {"payload", {{"orderId", order_id}}}}})}}};
    body["requiredLeases"] = json::array({event["leaseId"]});
    body["kv"] = json::array({put(order_id, "shipping", version)});
    return broker_.post("/transaction", body);
  }

  static json put(const std::string& order_id, const char* status, long long expect) {
    return {{"op", "put"},         {"ns", "orders"},      {"key", order_id},   {"value", {{"status", status}}},
            {"ttlSeconds", kADay}, {"expect", expect}, {"required", true}};
  }

  std::string handle(const json& event) const {
    const std::string order_id = event["data"]["orderId"];
    const json order = read_order(order_id);
    if (order["value"]["status"] != "paid") return ack(event)["success"].get<bool>() ? "known" : "refused";
    // The work of the step goes here: charge the card, book the courier.
    const json result = commit_step(event, order["version"], "ship-" + order_id);
    return result["success"].get<bool>() ? "moved" : result["reason"].get<std::string>();
  }

  json ack(const json& event) const {
    return broker_
        .post("/ack", {{"transactionId", event["transactionId"]},
                       {"partitionId", event["partitionId"]},
                       {"leaseId", event["leaseId"]},
                       {"consumerGroup", kGroup},
                       {"status", "completed"}})
        .at(0);
  }

  json kv(const json& operation) const {
    return broker_.post("/kv", {{"operations", json::array({operation})}}).at("results").at(0);
  }

  json read_order(const std::string& order_id) const {
    const json order = kv({{"op", "get"}, {"ns", "orders"}, {"key", order_id}});
    if (!order["found"].get<bool>()) throw std::runtime_error("the order " + order_id + " is not there");
    return order;
  }

  long long accept_order(const std::string& order_id) const { return kv(put(order_id, "paid", 0)).at("version"); }

  void publish(const std::string& partition, const std::string& order_id) const {
    const json item = {{"queue", events_}, {"partition", partition}, {"payload", {{"orderId", order_id}}}};
    broker_.post("/push", {{"items", json::array({item})}});
  }

  json take_one() const {
    const json popped = broker_.get("/pop/queue/" + events_ + "?consumerGroup=" + kGroup +
                                    "&subscriptionMode=all&batch=1&partitions=1&wait=true&timeout=20000");
    if (popped.is_null()) throw std::runtime_error("an event was expected and none came");
    return popped["messages"].at(0);
  }

  // All of them, each time: a group that is new reads the queue from its start and takes nothing from anybody.
  json shipping_events() {
    const json popped = broker_.get("/pop/queue/" + shipping_ + "?consumerGroup=reader-" + std::to_string(++readings_) +
                                    "&subscriptionMode=all&batch=100&partitions=10");
    return popped.is_null() ? json::array() : popped["messages"];
  }

  long long one_step() {
    const long long paid = accept_order(first_);
    publish(first_, first_);
    check(handle(take_one()) == "moved", "the step moved the order");
    const json order = read_order(first_);
    check(order["value"]["status"] == "shipping" && order["version"] > paid, "the order is shipping, at a later version");
    const json shipped = shipping_events();
    check(shipped.size() == 1 && shipped[0]["transactionId"] == "ship-" + first_, "one shipping event was pushed");
    check(shipped[0]["partition"] == first_, "it is in the order's own partition");
    return paid;
  }

  void redelivered() {
    const json before = read_order(first_);
    const std::string seek = std::string("/consumer-groups/") + kGroup + "/queues/" + events_ + "/seek";
    broker_.post(seek, {{"timestamp", "2000-01-01T00:00:00Z"}});
    check(handle(take_one()) == "known", "the redelivered event was only acknowledged");
    check(read_order(first_)["version"] == before["version"], "it did not write the order again");
    check(shipping_events().size() == 1, "it pushed nothing");
  }

  void race() {
    accept_order(second_);
    for (const char* desk : {"a", "b"}) publish(second_ + "-" + desk, second_);
    const std::array<json, 2> events = {take_one(), take_one()};
    // Both have read the order before either commits.
    const long long version = read_order(second_)["version"];
    auto other = std::async(std::launch::async, [&] { return commit_step(events[1], version, "ship-" + second_); });
    const json mine = commit_step(events[0], version, "ship-" + second_);
    const std::array<json, 2> results = {mine, other.get()};
    check(results[0]["success"] != results[1]["success"], "of two workers with the same version one won");
    const size_t lost = results[0]["success"].get<bool>() ? 1 : 0;
    check(results[lost]["reason"] == "kv_precondition", "the other was told that the order had moved");
    check(handle(events[lost]) == "known", "its event was still its own to acknowledge");
    int ours = 0;
    for (const auto& event : shipping_events()) ours += event["data"]["orderId"] == second_ ? 1 : 0;
    check(ours == 1, "one shipping event came of the two");
  }

  void old_version(long long paid) {
    const json before = read_order(first_);
    publish(first_, first_);
    const json event = take_one();
    const json result = commit_step(event, paid, "ship-again-" + first_);
    check(!result["success"].get<bool>() && result["reason"] == "kv_precondition",
          "the step from the old version was refused");
    const json after = read_order(first_);
    check(after["value"] == before["value"] && after["version"] == before["version"], "it did not write the order");
    check(shipping_events().size() == 2, "it pushed nothing");
    const json verdict = ack(event);
    check(verdict["success"].get<bool>() && !verdict["noop"].get<bool>(), "it acknowledged nothing");
  }

  Broker broker_;
  int checks_ = 0;
  int readings_ = 0;
  std::string events_, shipping_, first_, second_;
};

}  // namespace

int main() {
  curl_global_init(CURL_GLOBAL_DEFAULT);
  try {
    const char* url = std::getenv("LOCKSTEP_URL");
    Run(url == nullptr || *url == '\0' ? "http://localhost:6632" : url).all();
  } catch (const std::exception& failure) {
    std::cout.flush();
    std::cerr << "FAIL: " << failure.what() << "\n";
    return 1;
  }
  return 0;
}
