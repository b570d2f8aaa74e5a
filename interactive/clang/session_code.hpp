#pragma once

namespace llvm::orc {
class LLJIT;
}

namespace ktape::interactive {

/// Tells the crash guard which machine code belongs to the session: the code that this JIT links from now on,
/// until the JIT unloads the code.
void report_code(llvm::orc::LLJIT& jit);

}  // namespace ktape::interactive
