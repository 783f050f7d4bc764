// swift-tools-version: 6.0
// A package that depends on memdir, as an app does, and passes no options to the compiler or the
// linker.

import PackageDescription

let package = Package(
    name: "consumer",
    platforms: [.iOS(.v15), .macOS(.v12)],
    dependencies: [.package(name: "memdir", path: "../../..")],
    targets: [.executableTarget(name: "consumer", dependencies: [.product(name: "Memdir", package: "memdir")])]
)
