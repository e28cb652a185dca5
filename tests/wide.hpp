// SPDX-License-Identifier: MIT
// The types of the reference, wide enough that their own rounding does not count. A product takes
// the compiler seconds, so wide.cpp holds it once for all tests.
#pragma once

#include <type_traits>

#include <Eigen/Core>

namespace tinyblas::test {

template <class T>
using Wide = std::conditional_t<std::is_same_v<T, float>, double, long double>;
template <class T>
using WideMatrix = Eigen::Matrix<Wide<T>, Eigen::Dynamic, Eigen::Dynamic>;

template <class T>
WideMatrix<T> wide_product(const WideMatrix<T>& a, const WideMatrix<T>& b);

extern template WideMatrix<float> wide_product<float>(const WideMatrix<float>&,
                                                      const WideMatrix<float>&);
extern template WideMatrix<double> wide_product<double>(const WideMatrix<double>&,
                                                        const WideMatrix<double>&);

}  // namespace tinyblas::test
