#include "engine/job/job_store.hpp"

#include <c10/util/Logging.h>
#include <netdb.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <exception>
#include <thread>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>
#include <vector>

namespace interlace::engine {

namespace {

constexpr std::chrono::milliseconds kBetweenCalls{100};
constexpr std::chrono::seconds kGreetLimit{2};  // of one attempt; LibTorch makes two, and pauses
constexpr std::chrono::hours kGetLimit{24};     // whoever waits is ended by his Watch where nothing comes

std::vector<std::uint8_t> bytes_of(const std::string& text) { return {text.begin(), text.end()}; }

// LibTorch's messages go over many lines, with a backtrace.
std::string first_line(const std::exception& error) {
  const std::string all = error.what();
  return all.substr(0, all.find('\n'));
}

// From here on LibTorch logs nothing in this process: what it says of the store goes into an error, too, and its own
// lines have a backtrace each.
void silence_log() {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): nobody sets variables any more
  if (std::getenv("TORCH_CPP_LOG_LEVEL") == nullptr) FLAGS_caffe2_log_level = c10::GLOG_FATAL;
}

constexpr const char* kSeeHolder = "see whether the process that holds it (rank 0, or the launcher) still runs";

bool listens(const StorePlace& place) {
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (getaddrinfo(place.host.c_str(), std::to_string(place.port).c_str(), &wanted, &found) != 0) return false;
  bool answered = false;
  for (const addrinfo* address = found; address != nullptr && !answered; address = address->ai_next) {
    const int socket = ::socket(address->ai_family, address->ai_socktype | SOCK_CLOEXEC, address->ai_protocol);
    if (socket < 0) continue;
    // A host that drops what comes would keep a connect for minutes.
    const timeval limit{.tv_sec = 2, .tv_usec = 0};
    setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
    answered = connect(socket, address->ai_addr, address->ai_addrlen) == 0;
    close(socket);
  }
  freeaddrinfo(found);
  return answered;
}

// Ranks may start at different times. LibTorch would wait for one to three times the limit that it is given.
void await_listener(const StorePlace& place, std::chrono::milliseconds limit) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  while (!listens(place)) {
    if (std::chrono::steady_clock::now() > deadline) {
      throw Error(kJobStore, place.host + ':' + std::to_string(place.port),
                  "nobody has held the store of the job there for " + std::to_string(limit.count() / 1000) + " s",
                  kSeeHolder);
    }
    std::this_thread::sleep_for(kBetweenCalls);
  }
}

template <class Call>
auto reached(const Call& call) {
  try {
    return call();
  } catch (const std::exception& error) {
    throw Error(kJobStore, "", "the store of the job cannot be reached: " + first_line(error), kSeeHolder);
  }
}

}  // namespace

struct JobStore::Store {
  Store(const std::string& host, const c10d::TCPStoreOptions& options) : tcp(host, options) {}
  c10d::TCPStore tcp;
};

JobStore::JobStore(const StorePlace& place, std::chrono::milliseconds limit) : place_(place) {
  silence_log();
  if (!place.serves) await_listener(place, limit);
  c10d::TCPStoreOptions options;
  options.port = place.port;
  options.isServer = place.serves;
  options.waitWorkers = false;
  options.timeout = kGreetLimit;
  store_ = reached([&] { return std::make_unique<Store>(place.host, options); });
  store_->tcp.setTimeout(kGetLimit);
  place_.port = store_->tcp.getPort();
}

JobStore::~JobStore() = default;

StorePlace JobStore::place() const {
  StorePlace others = place_;
  others.serves = false;
  return others;
}

// torchrun's own keys are in the same store.
std::string JobStore::key_of(const std::string& key) const {
  return "interlace/" + place_.attempt + (place_.attempt.empty() ? "" : "/") + key;
}

void JobStore::put(const std::string& key, const std::string& value) {
  reached([&] { store_->tcp.set(key_of(key), bytes_of(value)); });
}

std::string JobStore::get(const std::string& key) {
  const std::vector<std::uint8_t> value = reached([&] { return store_->tcp.get(key_of(key)); });
  return {value.begin(), value.end()};
}

bool JobStore::has(const std::string& key) {
  return reached([&] { return store_->tcp.check({key_of(key)}); });
}

bool JobStore::claim(const std::string& key, const std::string& value) {
  // compareSet() would not tell apart who of two has put the same value.
  if (reached([&] { return store_->tcp.add(key_of(key) + "/claims", 1); }) != 1) return false;
  put(key, value);
  return true;
}

}  // namespace interlace::engine
