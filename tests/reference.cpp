// SPDX-License-Identifier: MIT
// See reference.hpp.
#include "reference.hpp"

namespace tinyblas::test {

template class Operand<float>;
template class Operand<double>;

}  // namespace tinyblas::test
