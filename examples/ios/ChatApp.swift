// The app.

import SwiftUI

@main
struct ChatApp: App {
    @State private var key = ""
    @State private var model: ChatModel?

    var body: some Scene {
        WindowGroup {
            if let model {
                ChatView(model: model)
            } else {
                Form {
                    SecureField("API key", text: $key)
                    Button("Start") { model = ChatModel(key: key) }
                        .disabled(key.isEmpty)
                }
            }
        }
    }
}
