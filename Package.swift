// swift-tools-version: 6.0
// memdir for Swift. The library beneath is written in Rust: on Apple's systems it comes as an
// XCFramework, which `make xcframework` builds; elsewhere it is linked by its name.

import PackageDescription

// Of the released XCFramework, as `make xcframework` prints it. Without one, it is the one that was built here; with one,
// an app can depend on this package by its address.
let version = "0.1.0"
let checksum = ""

#if os(Linux)
    let library = Target.systemLibrary(
        name: "MemdirFFI",
        path: "bindings-uniffi/swift/Sources/MemdirFFI",
        // Made by `bindings-uniffi/scripts/native`; found where PKG_CONFIG_PATH says.
        pkgConfig: "memdir_ffi"
    )
#else
    let library =
        checksum.isEmpty
        ? Target.binaryTarget(name: "MemdirFFI", path: "target/xcframework/MemdirFFI.xcframework")
        : Target.binaryTarget(
            name: "MemdirFFI",
            url: "https://github.com/memdir/memdir/releases/download/\(version)/MemdirFFI.xcframework.zip",
            checksum: checksum
        )
#endif

let package = Package(
    name: "memdir",
    platforms: [.iOS(.v15), .macOS(.v12)],
    products: [.library(name: "Memdir", targets: ["Memdir"])],
    targets: [
        library,
        .target(
            name: "Memdir",
            dependencies: ["MemdirFFI"],
            path: "bindings-uniffi/swift/Sources/Memdir",
            resources: [.process("PrivacyInfo.xcprivacy")],
            // Of the generated code; apps in Swift 6 mode use it as it is.
            swiftSettings: [.swiftLanguageMode(.v5)]
        ),
        // An example of a store of your own, which the tests check.
        .target(name: "StoreExample", dependencies: ["Memdir"], path: "examples/swift"),
        .testTarget(
            name: "MemdirTests",
            dependencies: ["Memdir", "StoreExample"],
            path: "bindings-uniffi/swift/Tests/MemdirTests"
        ),
        // The part of the iOS example that needs nothing of Apple's, so that it is tested, too.
        .target(
            name: "ChatExample",
            dependencies: ["Memdir"],
            path: "examples/ios",
            exclude: ["README.md", "ChatApp.swift", "ChatModel.swift", "ChatView.swift"],
            sources: ["Chat.swift"]
        ),
        .testTarget(
            name: "ChatTests",
            dependencies: ["ChatExample", "Memdir"],
            path: "bindings-uniffi/swift/Tests/ChatTests"
        ),
    ]
)
