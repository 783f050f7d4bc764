import dev.memdir.Memory
import java.awt.BorderLayout
import java.awt.event.WindowAdapter
import java.awt.event.WindowEvent
import javax.swing.JFrame
import javax.swing.JScrollPane
import javax.swing.JSplitPane
import javax.swing.JTextArea
import javax.swing.JTextField
import javax.swing.SwingWorker

/** The conversation on the left, Claude's use of its memory on the right, an input line below. */
class ChatWindow(memory: Memory, chat: (log: (String) -> Unit) -> Chat) : JFrame("Chat with memory") {
    private val conversation = textArea()
    private val commands = textArea()
    private val line = JTextField()
    private val chat = chat { text -> javax.swing.SwingUtilities.invokeLater { commands.append("$text\n\n") } }

    init {
        add(JSplitPane(JSplitPane.HORIZONTAL_SPLIT, JScrollPane(conversation), JScrollPane(commands)).apply { resizeWeight = 0.6 })
        add(line, BorderLayout.SOUTH)
        line.addActionListener { send(line.text) }
        addWindowListener(
            object : WindowAdapter() {
                override fun windowClosed(event: WindowEvent) {
                    memory.close()
                    System.exit(0)
                }
            }
        )
        defaultCloseOperation = DISPOSE_ON_CLOSE
        setSize(1000, 700)
        setLocationRelativeTo(null)
    }

    /** Not on Swing's own thread, which would be blocked until Claude has answered. */
    private fun send(text: String) {
        if (text.isBlank()) return
        line.text = ""
        line.isEnabled = false
        conversation.append("You: $text\n\n")
        object : SwingWorker<String, Unit>() {
                override fun doInBackground() = chat.say(text)

                override fun done() {
                    conversation.append(runCatching { "Claude: ${get()}" }.getOrElse { "That failed: ${it.cause?.message}" } + "\n\n")
                    line.isEnabled = true
                    line.requestFocusInWindow()
                }
            }
            .execute()
    }

    private fun textArea() =
        JTextArea().apply {
            isEditable = false
            lineWrap = true
            wrapStyleWord = true
        }
}
