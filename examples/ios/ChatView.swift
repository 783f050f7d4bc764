// The conversation on the screen.

import SwiftUI

struct ChatView: View {
    @ObservedObject var model: ChatModel
    @State private var draft = ""

    var body: some View {
        VStack {
            ScrollViewReader { scroll in
                ScrollView {
                    LazyVStack(spacing: 8) {
                        ForEach(model.lines) { line in
                            Text(line.text)
                                .padding(10)
                                .background(line.isMine ? Color.accentColor.opacity(0.2) : Color.gray.opacity(0.15))
                                .clipShape(RoundedRectangle(cornerRadius: 12))
                                .frame(maxWidth: .infinity, alignment: line.isMine ? .trailing : .leading)
                                .id(line.id)
                        }
                        if model.isWaiting { ProgressView() }
                    }
                    .padding()
                }
                .onChange(of: model.lines.count) { _ in
                    if let last = model.lines.last { scroll.scrollTo(last.id) }
                }
            }
            HStack {
                TextField("Message", text: $draft)
                    .textFieldStyle(.roundedBorder)
                    .onSubmit(send)
                Button("Send", action: send)
                    .disabled(draft.isEmpty || model.isWaiting)
            }
            .padding()
        }
    }

    private func send() {
        guard !draft.isEmpty, !model.isWaiting else { return }
        model.say(draft)
        draft = ""
    }
}
