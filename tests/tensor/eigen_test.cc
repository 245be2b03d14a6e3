// SPDX-License-Identifier: Apache-2.0
#include "strata/tensor/eigen.h"

#include <gtest/gtest.h>

#include <memory>

#include "strata/tensor/create.h"
#include "strata/tensor/error.h"
#include "strata/tensor/gradient.h"

namespace strata {
namespace {

TEST(AsMatrix, SeesTheElementsOfTheTensor) {
  const Tensor t = tensor({1.0f, 2.0f, 3.0f, 4.0f, 5.0f, 6.0f}, {2, 3});
  const auto m = as_matrix<float>(t);
  EXPECT_EQ(m.rows(), 2);
  EXPECT_EQ(m.cols(), 3);
  EXPECT_EQ(m(1, 0), 4.0f);
  EXPECT_EQ(m.data(), t.data<float>().data());
}

TEST(AsMatrix, OfAVectorIsARowAndOfAScalarOneByOne) {
  const Tensor vector = tensor({1.0, 2.0});
  EXPECT_EQ(as_matrix<double>(vector).rows(), 1);
  EXPECT_EQ(as_matrix<double>(vector).cols(), 2);
  const Tensor number = scalar(7);
  EXPECT_EQ(as_matrix<int>(number)(0, 0), 7);
}

TEST(AsMatrix, OfNothing) {
  const Tensor t = zeros({0, 3});
  EXPECT_EQ(as_matrix<float>(t).rows(), 0);
  EXPECT_EQ(as_matrix<float>(t).cols(), 3);
}

TEST(AsMatrix, RefusesOtherRanksAndTypes) {
  const Tensor t = zeros({1, 2, 3});
  EXPECT_THROW(static_cast<void>(as_matrix<float>(t)), ShapeError);
  const Tensor m = zeros({2, 3});
  EXPECT_THROW(static_cast<void>(as_matrix<double>(m)), DTypeError);
}

TEST(AsMutableMatrix, WritesToTheTensorAlone) {
  Tensor t = zeros({2, 2});
  const Tensor copy = t;
  as_mutable_matrix<float>(t) << 1, 2, 3, 4;
  EXPECT_TRUE(identical(t, tensor({1.0f, 2.0f, 3.0f, 4.0f}, {2, 2})));
  EXPECT_TRUE(identical(copy, zeros({2, 2})));
}

TEST(AsMutableMatrix, RefusesATrackedTensor) {
  GradientTape tape;
  Tensor t = tape.watch(zeros({2, 2}));
  EXPECT_THROW(static_cast<void>(as_mutable_matrix<float>(t)), GradientError);
}

TEST(AsVector, IsAColumn) {
  const Tensor t = tensor({1.0f, 2.0f, 2.0f});
  EXPECT_EQ(as_vector<float>(t).norm(), 3.0f);
  EXPECT_EQ(as_vector<float>(t).cols(), 1);
  const Tensor m = zeros({1, 3});
  EXPECT_THROW(static_cast<void>(as_vector<float>(m)), ShapeError);
}

TEST(AsMutableVector, WritesToTheTensor) {
  Tensor t = zeros({2}, DType::float64);
  as_mutable_vector<double>(t).setConstant(3.0);
  EXPECT_TRUE(identical(t, tensor({3.0, 3.0})));
}

TEST(FromEigen, KeepsTheMatrixWhateverItsStorageOrder) {
  Eigen::MatrixXf columns(2, 3);
  columns << 1, 2, 3, 4, 5, 6;
  const RowMajorMatrix<float> rows = columns;
  const Tensor expected = tensor({1.0f, 2.0f, 3.0f, 4.0f, 5.0f, 6.0f}, {2, 3});
  EXPECT_TRUE(identical(from_eigen(columns), expected));
  EXPECT_TRUE(identical(from_eigen(rows), expected));
}

TEST(FromEigen, OfAVectorHasRankOne) {
  EXPECT_TRUE(identical(from_eigen(Eigen::Vector3d(1, 2, 3)), tensor({1.0, 2.0, 3.0})));
  EXPECT_TRUE(identical(from_eigen(Eigen::RowVector2i(1, 2)), tensor({1, 2})));
}

TEST(FromEigen, EvaluatesExpressions) {
  Eigen::Matrix2d m;
  m << 1, 2, 3, 4;
  EXPECT_TRUE(identical(from_eigen(m * m), tensor({7.0, 10.0, 15.0, 22.0}, {2, 2})));
  EXPECT_TRUE(identical(from_eigen(m.transpose()), tensor({1.0, 3.0, 2.0, 4.0}, {2, 2})));
  EXPECT_TRUE(identical(from_eigen(m.row(1)), tensor({3.0, 4.0})));
  EXPECT_TRUE(identical(from_eigen(m.array() > 2), tensor({false, false, true, true}, {2, 2})));
}

TEST(FromEigen, OfNothing) { EXPECT_EQ(from_eigen(Eigen::MatrixXf(0, 3)).shape(), (Shape{0, 3})); }

TEST(ViewOf, SharesTheElementsAndKeepsTheMatrixAlive) {
  auto matrix = std::make_shared<RowMajorMatrix<float>>(2, 2);
  *matrix << 1, 2, 3, 4;
  const float* elements = matrix->data();
  const Tensor t = view_of(std::move(matrix));
  EXPECT_EQ(t.data<float>().data(), elements);
  EXPECT_TRUE(identical(t, tensor({1.0f, 2.0f, 3.0f, 4.0f}, {2, 2})));
}

TEST(ViewOf, CopiesBeforeItWrites) {
  const auto vector = std::make_shared<const Eigen::Vector2f>(1, 2);
  Tensor t = view_of(vector);
  EXPECT_EQ(t.shape(), Shape{2});
  t.mutable_data<float>()[0] = 5.0f;
  EXPECT_EQ((*vector)[0], 1.0f);
}

TEST(ViewOf, RefusesANullPointer) {
  EXPECT_THROW(static_cast<void>(view_of(std::shared_ptr<RowMajorMatrix<float>>())), ValueError);
}

}  // namespace
}  // namespace strata
