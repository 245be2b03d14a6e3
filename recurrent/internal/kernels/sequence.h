// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "strata/recurrent/internal/kernels/aligned_array.h"
#include "strata/recurrent/internal/kernels/packed_weights.h"
#include "strata/recurrent/internal/kernels/row_order.h"
#include "strata/tensor/shape.h"

// A whole recurrent sequence as one operation, on raw memory: LSTM, GRU and the simple cell, float and double, forward
// and backward. Nothing is checked here.
//
//   lstm    i, f, g, o:  c' = s(f) c + s(i) tanh(g)                              h' = s(o) tanh(c')
//   gru     r, z, n:     m = tanh(x Wn + bn + s(r) (h Rn + cn))                  h' = (1 - s(z)) m + s(z) h
//   simple               h' = tanh or relu of (x W + b + h R + c [+ h])
//
// where each gate is x W + b + h R + c and s is the logistic function.
//
// Every element of every result is one sum in an order that depends on the shape alone: results are the same, bit for
// bit, for every number of threads; and of the forward pass also for every batch around a row, and step by step as in
// one call.

namespace strata::recurrent::internal {

// The carry of all rows, in the caller's order; h and c are [rows, hidden]. Null data: absent (zero where it is read).
template <class T>
struct CarryView {
  Matrix<T> h;
  Matrix<T> c;
};

// What a forward pass leaves for the backward pass over the same sequence.
template <class T>
struct Tape {
  RowOrder order;
  AlignedArray<T> states;   // the initial states, then those of all pairs: [rows + pairs, state stride]
  AlignedArray<T> records;  // [block][pair][saved][lanes]
  Matrix<const T> h_mask;
};

// Runs the sequence. x is [places, input] and y [places, hidden]; y must not overlap x and may be absent. `final_carry`
// gets each row's carry after its last valid step; a row of length 0 keeps its initial carry. `h_mask`, [rows, hidden]
// if given, multiplies the states where they enter the recurrent product, and must live as long as the tape. With a
// tape, what the backward pass needs is kept in it.
template <class T>
void forward(const PackedWeights<T>& weights, const SequenceShape& shape, Matrix<const T> x,
             const CarryView<const T>& initial, Matrix<T> y, const CarryView<T>& final_carry, Tape<T>* tape,
             Matrix<const T> h_mask = {});

// Cotangents of y and of the final carry; absent ones are zero.
template <class T>
struct Cotangents {
  Matrix<const T> y;
  CarryView<const T> carry;
};

// Where gradients go; absent ones are not computed. dx and the initial carry's are overwritten; those of weights and
// biases are added to what is there if `add` is set.
template <class T>
struct Gradients {
  Matrix<T> x;
  CarryView<T> initial;
  GateArrays<T> weights;
  bool add = false;
};

// The gradients of sum(y * dy) + sum(final_carry * dcarry). x is the input of the forward pass that filled the tape;
// the weights need their transposed panels. Steps behind a row's last valid one take no part if their cotangents are
// all zero: NaN in padding then stays there.
template <class T>
void backward(const PackedWeights<T>& weights, const Tape<T>& tape, Matrix<const T> x, const Cotangents<T>& cotangents,
              const Gradients<T>& gradients);

extern template void forward(const PackedWeights<float>&, const SequenceShape&, Matrix<const float>,
                             const CarryView<const float>&, Matrix<float>, const CarryView<float>&, Tape<float>*,
                             Matrix<const float>);
extern template void forward(const PackedWeights<double>&, const SequenceShape&, Matrix<const double>,
                             const CarryView<const double>&, Matrix<double>, const CarryView<double>&, Tape<double>*,
                             Matrix<const double>);
extern template void backward(const PackedWeights<float>&, const Tape<float>&, Matrix<const float>,
                              const Cotangents<float>&, const Gradients<float>&);
extern template void backward(const PackedWeights<double>&, const Tape<double>&, Matrix<const double>,
                              const Cotangents<double>&, const Gradients<double>&);

}  // namespace strata::recurrent::internal
