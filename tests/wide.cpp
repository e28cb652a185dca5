// SPDX-License-Identifier: MIT
// See wide.hpp.
#include "wide.hpp"

namespace tinyblas::test {

template <class T>
WideMatrix<T> wide_product(const WideMatrix<T>& a, const WideMatrix<T>& b) {
    return a * b;
}

template WideMatrix<float> wide_product<float>(const WideMatrix<float>&, const WideMatrix<float>&);
template WideMatrix<double> wide_product<double>(const WideMatrix<double>&,
                                                 const WideMatrix<double>&);

}  // namespace tinyblas::test
