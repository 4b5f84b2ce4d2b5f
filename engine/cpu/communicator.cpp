#include "engine/cpu/communicator.hpp"

#include <cassert>
#include <cstring>
#include <utility>

namespace interlace::engine::cpu {

namespace {

[[noreturn]] void complain(const std::string& problem) {
  throw Error(kCollectiveOrder, "", problem, "all ranks must issue the same collectives in the same order");
}

// A part of a collective that knows its name and kind; all ranks' parts must have the same.
class NamedPost : public CpuPost {
 public:
  explicit NamedPost(std::string what) : what_(std::move(what)) {}
  [[nodiscard]] const std::string& what() const { return what_; }

 protected:
  template <class Kind>
  [[nodiscard]] static std::vector<Kind*> all_of_kind(std::span<CpuPost* const> posts) {
    std::vector<Kind*> parts;
    const std::string& expected = dynamic_cast<NamedPost&>(*posts.front()).what();
    for (CpuPost* post : posts) {
      auto* part = dynamic_cast<Kind*>(post);
      const std::string& what = dynamic_cast<NamedPost&>(*post).what();
      if (part == nullptr || what != expected) {
        complain("issues \"" + expected + "\" where rank " + std::to_string(parts.size()) + " issues \"" + what + "\"");
      }
      parts.push_back(part);
    }
    return parts;
  }

 private:
  std::string what_;
};

class AllToAllPost : public NamedPost {
 public:
  AllToAllPost(std::string what, const void* send, std::vector<std::size_t> send_bytes, void* receive,
               std::vector<std::size_t> receive_bytes)
      : NamedPost(std::move(what)),
        send_(static_cast<const std::byte*>(send)),
        send_bytes_(std::move(send_bytes)),
        receive_(static_cast<std::byte*>(receive)),
        receive_bytes_(std::move(receive_bytes)) {}

  void carry_out(std::span<CpuPost* const> posts) override {
    const std::vector<AllToAllPost*> parts = all_of_kind<AllToAllPost>(posts);
    std::vector<std::size_t> sent(parts.size());  // of each rank, so far
    for (std::size_t to = 0; to < parts.size(); ++to) {
      std::size_t received = 0;
      for (std::size_t from = 0; from < parts.size(); ++from) {
        const std::size_t bytes = parts[from]->send_bytes_[to];
        if (bytes != parts[to]->receive_bytes_[from]) {
          complain("\"" + what() + "\": rank " + std::to_string(from) + " sends " + std::to_string(bytes) +
                   " bytes, rank " + std::to_string(to) + " expects " +
                   std::to_string(parts[to]->receive_bytes_[from]));
        }
        if (bytes > 0) std::memcpy(parts[to]->receive_ + received, parts[from]->send_ + sent[from], bytes);
        received += bytes;
        sent[from] += bytes;
      }
    }
  }

 private:
  const std::byte* send_;
  std::vector<std::size_t> send_bytes_;
  std::byte* receive_;
  std::vector<std::size_t> receive_bytes_;
};

class AllReduceMeanPost : public NamedPost {
 public:
  AllReduceMeanPost(std::string what, std::span<float> values) : NamedPost(std::move(what)), values_(values) {}

  void carry_out(std::span<CpuPost* const> posts) override {
    const std::vector<AllReduceMeanPost*> parts = all_of_kind<AllReduceMeanPost>(posts);
    for (const AllReduceMeanPost* part : parts) {
      if (part->values_.size() != values_.size()) complain("\"" + what() + "\": sizes differ");
    }
    const float share = 1.0F / static_cast<float>(parts.size());
    for (std::size_t i = 0; i < values_.size(); ++i) {
      float sum = 0.0F;
      for (const AllReduceMeanPost* part : parts) sum += part->values_[i];
      for (AllReduceMeanPost* part : parts) part->values_[i] = sum * share;
    }
  }

 private:
  std::span<float> values_;
};

}  // namespace

CpuCommunicator::CpuCommunicator(CpuDevice& device, std::size_t group, int rank, int ranks)
    : Communicator(device, device.make_stream("collectives", 0), rank, ranks), device_(&device), group_(group) {
  device.join(group, stream());
}

void CpuCommunicator::queue_all_to_all(AllToAll exchange) {
  device_->post(group_, stream(),
                std::make_unique<AllToAllPost>(std::move(exchange.what), exchange.send, std::move(exchange.send_bytes),
                                               exchange.receive, std::move(exchange.receive_bytes)));
}

void CpuCommunicator::queue_all_reduce_mean(std::string what, std::span<float> values) {
  device_->post(group_, stream(), std::make_unique<AllReduceMeanPost>(std::move(what), values));
}

}  // namespace interlace::engine::cpu
