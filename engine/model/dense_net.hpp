#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "engine/workload/dense_spec.hpp"

namespace interlace::engine {

/// A range of the model's parameters, and of their gradients, in floats.
struct ParameterRange {
  std::size_t begin = 0;
  std::size_t count = 0;
};

/// What the forward pass of a batch leaves for its backward. The raw memory that it was given must live as long.
class Tape {
 public:
  Tape() = default;
  Tape(const Tape&) = delete;
  Tape& operator=(const Tape&) = delete;
  Tape(Tape&&) = delete;
  Tape& operator=(Tape&&) = delete;
  virtual ~Tape() = default;
};

/// What forward() reads and writes; raw device memory.
struct DenseBatch {
  std::int64_t samples = 0;
  float* features = nullptr;     ///< samples x DenseSpec::features
  float* labels = nullptr;       ///< a value a sample
  float* interaction = nullptr;  ///< samples x interaction width; the first bottom_width() columns are written here,
                                 ///< the pooled embeddings behind them are read
  float* loss = nullptr;         ///< one value: the mean over the samples
};

/// A gradient that backward() made, row by row.
struct GradientView {
  float* data = nullptr;
  std::int64_t stride = 0;  ///< floats from row to row
};

/// The dense arches with a binary cross entropy with logits.
///
/// All parameters lie side by side in one array, their gradients in another, in the order of forward. The net is cut
/// into segments: runs of layers whose gradients fill a bucket. Autograd differentiates inside a segment; the caller
/// goes from segment to segment, last first, and may reduce the gradients of one while the next is on its way.
/// Gradients are added to what is there. One segment border is always where the pooled embeddings join.
///
/// All calls but the constructor stand inside the Work of a stream.
class DenseNet {
 public:
  enum class Where : std::uint8_t { kCpu, kCuda };

  /// pooled_width: floats a sample of all pooled embeddings. parameters, gradients: parameter_count() floats each of
  /// device memory that outlives the net.
  DenseNet(const DenseSpec& spec, std::int64_t pooled_width, std::int64_t bucket_bytes, Where where, float* parameters,
           float* gradients);
  DenseNet(const DenseNet&) = delete;
  DenseNet& operator=(const DenseNet&) = delete;
  DenseNet(DenseNet&&) = delete;
  DenseNet& operator=(DenseNet&&) = delete;
  ~DenseNet();

  [[nodiscard]] std::size_t segments() const;
  [[nodiscard]] ParameterRange parameters_of(std::size_t segment) const;
  /// The first segment behind the interaction: its backward makes interaction_gradient().
  [[nodiscard]] std::size_t first_over_segment() const;

  [[nodiscard]] std::shared_ptr<Tape> make_tape() const;
  void forward(Tape& tape, const DenseBatch& batch) const;
  /// Requires that of segment + 1 before, on the same stream. Frees what only this took from the tape.
  void backward(Tape& tape, std::size_t segment) const;
  /// Valid from backward(first_over_segment()) until backward of the segment before it.
  [[nodiscard]] GradientView interaction_gradient(const Tape& tape) const;

 private:
  struct Layers;
  std::unique_ptr<Layers> layers_;
};

/// Lets LibTorch compute what the calling thread asks for on that thread alone, so that sums have one order.
void use_one_thread();

/// product = a x b, of square matrices: a stand-in for compute of other kinds.
void multiply(DenseNet::Where where, std::int64_t size, float* a, float* b, float* product);

}  // namespace interlace::engine
