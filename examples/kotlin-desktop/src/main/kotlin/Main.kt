import com.anthropic.client.okhttp.AnthropicOkHttpClient
import dev.memdir.Memory
import javax.swing.SwingUtilities

/** A chat with Claude in a window, or with `--console` in the terminal. */
fun main(arguments: Array<String>) {
    fun option(name: String) = arguments.indexOf(name).takeIf { it >= 0 }?.let { arguments.getOrNull(it + 1) }
    val place = option("--memory") ?: "${System.getProperty("user.home")}/.memdir-desktop"
    val model = option("--model") ?: "claude-sonnet-5-5"

    val client = AnthropicOkHttpClient.fromEnv()
    val memory = Memory(place)
    if ("--console" in arguments) {
        memory.use { converse(Chat(client, it, model)) }
        client.close()
    } else {
        SwingUtilities.invokeLater { ChatWindow(memory) { log -> Chat(client, memory, model, log) }.isVisible = true }
    }
}

private fun converse(chat: Chat) {
    while (true) {
        print("> ")
        val text = readlnOrNull() ?: return
        if (text.isNotBlank()) println(chat.say(text))
    }
}
