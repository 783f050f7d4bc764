/**
 * A small app, which `ShrinkTest` shrinks with R8. It uses every kind of value that crosses between Kotlin and the
 * library.
 */
package shrunk

import dev.memdir.Command
import dev.memdir.Event
import dev.memdir.HookDecision
import dev.memdir.MemdirException
import dev.memdir.Memory
import dev.memdir.MemoryHooks
import dev.memdir.MemoryOptions
import dev.memdir.Store
import dev.memdir.openStore
import dev.memdir.suspending
import java.nio.file.Path
import kotlinx.coroutines.runBlocking

private class Logged(private val store: Store) : Store by store {
    override fun read(path: String): ByteArray = store.read(path).also { println("read $path") }
}

private class Hooks : MemoryHooks {
    override fun before(command: Command, call: HookCall): HookDecision = HookDecision.Allow

    override fun after(event: Event) = println("after ${event.path}")
}

fun main(arguments: Array<String>) {
    val options = MemoryOptions(readOnlyPaths = listOf("/memories/handbook"))
    Memory(Path.of(arguments.single()), options).use { memory ->
        memory.create("/memories/notes.md", "- likes tea\n")
        println(memory.view("/memories/notes.md"))
        println(memory.execute("""{"command": "delete", "path": "/memories/old.md"}""").content)
        try {
            memory.create("/memories/handbook/a.md", "text")
        } catch (refused: MemdirException.Refused) {
            println(refused.reason)
        }
        runBlocking { println(memory.suspending.stats().files) }
    }
    Memory(Logged(openStore("memory:")), MemoryOptions(history = true), Hooks()).use { memory ->
        memory.observe { println("${it.kind} ${it.path}") }
        memory.create("/memories/a.md", "one\n")
        memory.strReplace("/memories/a.md", "one", "two")
        println(memory.history().map { it.operation })
    }
}
