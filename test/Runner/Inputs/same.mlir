func.func @main(%a: tensor<2xTYPE>) -> tensor<2xTYPE> { return %a : tensor<2xTYPE> }
