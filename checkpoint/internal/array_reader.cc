// SPDX-License-Identifier: Apache-2.0
#include "strata/checkpoint/internal/array_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "strata/checkpoint/internal/array_names.h"
#include "strata/checkpoint/internal/elements.h"
#include "strata/checkpoint/internal/limits.h"
#include "strata/checkpoint/internal/numpy_dtype.h"
#include "strata/state/kind_registry.h"
#include "strata/tensor/manipulate.h"

namespace strata::checkpoint::internal {
namespace {

using Type = Message::Type;

constexpr auto max_index = static_cast<std::uint64_t>(std::numeric_limits<Index>::max());

NumpyDType read_dtype(const Reading& reading, std::size_t value) {
  reading.require(value, Type::text, "`dtype`");
  const std::string_view text = reading.message.text(value);
  const std::optional<NumpyDType> dtype = parse_numpy_text(text);
  if (!dtype) {
    reading.fail(value, fmt::format("`dtype` {} is not an element type that a tensor holds.", shortened(text)));
  }
  return *dtype;
}

// The product of the sizes that are not 0 must fit 63 bits, as in a Shape.
std::vector<Index> read_sizes(const Reading& reading, std::size_t shape) {
  reading.require(shape, Type::list, "`shape`");
  const Message& message = reading.message;
  std::uint64_t product = 1;
  std::vector<Index> sizes;
  for (std::size_t value = shape + 1; value != message.next(shape); value = message.next(value)) {
    if (sizes.size() == max_rank_read) {
      reading.fail(value, fmt::format("`shape` has more than {} axes.", max_rank_read));
    }
    if (message.type(value) != Type::positive_integer) {
      reading.fail(value, "`shape` may hold only integers that are not negative.");
    }
    const std::uint64_t size = message.positive_integer(value);
    if (size > max_index || (size != 0 && product > max_index / size)) {
      reading.fail(value, "the elements of an array of this `shape` do not fit 63 bits.");
    }
    if (size != 0) product *= size;
    sizes.push_back(static_cast<Index>(size));
  }
  return sizes;
}

bool is_tagged_column_major(const Reading& reading, std::size_t value) {
  if (reading.message.type(value) == Type::nil) return false;
  reading.require(value, Type::text, "`order`");
  const std::string_view order = reading.message.text(value);
  if (order != "C" && order != "F") reading.fail(value, "`order` must be C or F.");
  return order == "F";
}

Tensor read_tensor(const Reading& reading, const ArrayFields& fields, DopamineOptions options) {
  const NumpyDType element = read_dtype(reading, *fields.dtype);
  std::vector<Index> sizes = read_sizes(reading, *fields.shape);
  const bool tagged = fields.order && is_tagged_column_major(reading, *fields.order);
  const bool column_major = tagged && options.column_major_if_tagged;
  if (column_major) std::reverse(sizes.begin(), sizes.end());

  const Shape shape(sizes);
  const std::optional<std::uint64_t> bytes_needed = bytes_of(sizes, element.dtype);
  if (!bytes_needed) reading.fail(*fields.shape, "the bytes of an array of this `shape` do not fit 63 bits.");
  reading.require(*fields.data, Type::binary, "`data`");
  const std::span<const std::byte> data = reading.message.binary(*fields.data);
  if (data.size() != *bytes_needed) {
    reading.fail(*fields.data, fmt::format("`data` has {} bytes, but {} elements of {} take {}.", data.size(),
                                           shape.num_elements(), name(element.dtype), *bytes_needed));
  }
  Tensor tensor = read_elements(data, element, shape);
  return column_major ? transpose(tensor) : tensor;
}

const Kind& read_kind(const Reading& reading, std::size_t value, bool adds_unknown) {
  reading.require(value, Type::text, fmt::format("`{}`", kind_name));
  if (adds_unknown) return find_or_add_kind(reading.message.text(value), kind_of<Variable>());
  const Kind* kind = find_kind(reading.message.text(value));
  return kind == nullptr ? kind_of<Variable>() : *kind;
}

MetadataValue read_metadata_value(const Reading& reading, std::size_t value) {
  const Message& message = reading.message;
  switch (message.type(value)) {
    case Type::boolean:
      return message.boolean(value);
    case Type::positive_integer:
      if (message.positive_integer(value) <= max_index) return static_cast<Index>(message.positive_integer(value));
      break;
    case Type::negative_integer:
      return Index{message.negative_integer(value)};
    case Type::floating:
      return message.floating(value);
    case Type::text:
      return std::string(message.text(value));
    default:
      break;
  }
  reading.fail(value, "metadata must be a bool, an integer of 64 bits, a float or a text.");
}

Metadata read_metadata(Reading& reading, std::size_t list) {
  reading.require(list, Type::list, fmt::format("`{}`", metadata_name));
  const Message& message = reading.message;
  Metadata::Map values;
  for (std::size_t pair = list + 1; pair != message.next(list); pair = message.next(pair)) {
    const std::size_t name = pair + 1;
    const std::size_t value = pair + 2;
    if (message.type(pair) != Type::list || message.next(pair) != pair + 3 || message.type(name) != Type::text) {
      reading.fail(pair, "an item of metadata must be a list of a name and a value.");
    }
    reading.take_memory(pair, metadata_value_memory);
    if (!values.emplace(message.text(name), read_metadata_value(reading, value)).second) {
      reading.fail(name, fmt::format("the metadata `{}` stands twice.", shortened(message.text(name))));
    }
  }
  return Metadata(std::move(values));
}

}  // namespace

void ArrayFields::set(std::string_view name, std::size_t value) {
  if (name == shape_name) shape = value;
  if (name == data_name) data = value;
  if (name == dtype_name) dtype = value;
  if (name == order_name) order = value;
  if (name == kind_name) kind = value;
  if (name == metadata_name) metadata = value;
}

Variable read_array(Reading& reading, const ArrayFields& fields, DopamineOptions options) {
  Tensor tensor = read_tensor(reading, fields, options);
  const Kind& kind = fields.kind ? read_kind(reading, *fields.kind, options.add_unknown_kinds) : kind_of<Variable>();
  Metadata metadata = fields.metadata ? read_metadata(reading, *fields.metadata) : Metadata();
  return Variable(kind, std::move(tensor), std::move(metadata));
}

}  // namespace strata::checkpoint::internal
