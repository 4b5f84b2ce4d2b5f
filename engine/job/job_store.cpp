#include "engine/job/job_store.hpp"

#include <chrono>
#include <exception>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>
#include <vector>

namespace interlace::engine {

namespace {

constexpr std::chrono::seconds kConnectLimit{30};
constexpr std::chrono::hours kGetLimit{24};  // whoever waits is ended by his Watch where nothing comes
const std::string kPrefix = "interlace/";    // torchrun's own keys are in the same store

std::vector<std::uint8_t> bytes_of(const std::string& text) { return {text.begin(), text.end()}; }

// LibTorch's messages go over many lines, with a backtrace.
std::string first_line(const std::exception& error) {
  const std::string all = error.what();
  return all.substr(0, all.find('\n'));
}

template <class Call>
auto reached(const Call& call) {
  try {
    return call();
  } catch (const std::exception& error) {
    throw Error(kJobStore, "", "the store of the job cannot be reached: " + first_line(error),
                "see whether the process that holds it (rank 0, or the launcher) still runs");
  }
}

}  // namespace

struct JobStore::Store {
  Store(const std::string& host, const c10d::TCPStoreOptions& options) : tcp(host, options) {}
  c10d::TCPStore tcp;
};

JobStore::JobStore(const StorePlace& place) : host_(place.host) {
  c10d::TCPStoreOptions options;
  options.port = place.port;
  options.isServer = place.serves;
  options.waitWorkers = false;
  options.timeout = kConnectLimit;
  store_ = reached([&] { return std::make_unique<Store>(place.host, options); });
  store_->tcp.setTimeout(kGetLimit);
}

JobStore::~JobStore() = default;

StorePlace JobStore::place() const { return {.host = host_, .port = store_->tcp.getPort(), .serves = false}; }

void JobStore::put(const std::string& key, const std::string& value) {
  reached([&] { store_->tcp.set(kPrefix + key, bytes_of(value)); });
}

std::string JobStore::get(const std::string& key) {
  const std::vector<std::uint8_t> value = reached([&] { return store_->tcp.get(kPrefix + key); });
  return {value.begin(), value.end()};
}

bool JobStore::has(const std::string& key) {
  return reached([&] { return store_->tcp.check({kPrefix + key}); });
}

bool JobStore::claim(const std::string& key, const std::string& value) {
  // compareSet() would not tell apart who of two has put the same value.
  if (reached([&] { return store_->tcp.add(kPrefix + key + "/claims", 1); }) != 1) return false;
  put(key, value);
  return true;
}

}  // namespace interlace::engine
