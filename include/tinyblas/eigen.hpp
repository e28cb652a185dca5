// SPDX-License-Identifier: MIT
// Opt-in adapter: Eigen matrices as views and views as Eigen maps. No data moves; host-reachable
// memory only on Eigen's side.
#pragma once

#include <Eigen/Core>
#include <type_traits>

#include "tinyblas/view.hpp"

namespace tinyblas {

/// Both strides of a map, known at run time.
using EigenStride = Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>;

/// What as_eigen() gives: a map of a dynamic matrix (read-only if T is const) with both strides
/// stated.
template <class T>
using EigenMap = Eigen::Map<
    std::conditional_t<std::is_const_v<T>,
                       const Eigen::Matrix<std::remove_const_t<T>, Eigen::Dynamic, Eigen::Dynamic>,
                       Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>>,
    Eigen::Unaligned, EigenStride>;

/// `view` as an Eigen map, whatever its strides.
template <class T>
EigenMap<T> as_eigen(MatrixView<T> view) {
    return EigenMap<T>(view.data, view.rows, view.columns,
                       EigenStride(view.column_stride, view.row_stride));
}

/// A view of an Eigen object with direct access to its coefficients: Matrix, Array, Map, Ref, a
/// block or a transpose of one. The object must outlive the view.
template <class Derived>
auto as_view(Eigen::DenseBase<Derived>& dense) {
    auto& object = dense.derived();
    // Const if the object maps const data: an Eigen::Ref<const Matrix>, say.
    using T = std::remove_pointer_t<decltype(object.data())>;
    return MatrixView<T>{object.data(), object.rows(), object.cols(), object.rowStride(),
                         object.colStride()};
}
template <class Derived>
MatrixView<const typename Derived::Scalar> as_view(const Eigen::DenseBase<Derived>& dense) {
    const auto& object = dense.derived();
    return {object.data(), object.rows(), object.cols(), object.rowStride(), object.colStride()};
}

}  // namespace tinyblas
