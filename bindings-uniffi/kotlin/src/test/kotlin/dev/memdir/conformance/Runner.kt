/** Runs the cases of `tests/cases` on a kind of store. */
package dev.memdir.conformance

import dev.memdir.SuspendingHookCall
import dev.memdir.Command
import dev.memdir.Event
import dev.memdir.HookDecision
import dev.memdir.MemdirException
import dev.memdir.Memory
import dev.memdir.MemoryOptions
import dev.memdir.Reply
import dev.memdir.Store
import dev.memdir.SuspendingMemoryHooks
import dev.memdir.suspending
import java.nio.file.Files
import java.nio.file.Path
import java.time.Instant
import kotlin.io.path.deleteIfExists
import kotlin.io.path.listDirectoryEntries
import kotlin.io.path.name
import kotlin.io.path.writeText
import kotlinx.coroutines.delay
import kotlinx.coroutines.runBlocking
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.assertAll

/** A new memory, the store beneath it, and the store's location on this machine. */
class Opened(val memory: Memory, val store: Store, val place: Path? = null)

/** Runs every case on a memory that [open] creates, and writes the number of cases. */
fun runCases(runner: String, open: (MemoryOptions, CaseHooks?) -> Opened) {
    val counts = Files.createDirectories(root.resolve("target/conformance")).resolve(runner)
    counts.deleteIfExists()
    val cases = cases()
    assertAll(cases.map { case -> { run(case, open) } })
    val steps = cases.sumOf { it.steps.size }
    counts.writeText("${cases.size} $steps\n")
    println("conformance: $runner: ${cases.size} cases, $steps steps")
}

/** Runs the cases that have hooks, with hooks that suspend before they apply the case's rule. */
fun runSuspendingCases(open: (MemoryOptions, SuspendingMemoryHooks) -> Opened) {
    val cases = cases().filter { it.hooks != null }
    assertFalse(cases.isEmpty())
    assertAll(
        cases.map { case ->
            {
                run(case, { options, hooks -> open(options, Suspending(hooks!!)) }) { memory, json ->
                    runBlocking { memory.suspending.execute(json) }
                }
            }
        }
    )
}

private class Suspending(private val hooks: CaseHooks) : SuspendingMemoryHooks {
    override suspend fun before(command: Command, call: SuspendingHookCall): HookDecision {
        delay(1)
        return hooks.decide(command)
    }

    override suspend fun after(event: Event) {
        delay(1)
        hooks.after(event)
    }
}

private fun run(
    case: Case,
    open: (MemoryOptions, CaseHooks?) -> Opened,
    execute: (Memory, String) -> Reply = Memory::execute,
) {
    val hooks = case.hooks?.let(::CaseHooks)
    val opened = open(case.options, hooks)
    val name = "${case.file}, case ${case.name}"
    write(opened.store, case.given)
    var before = tree(opened.store)
    assertEquals(case.given.toSortedMap(), before.toSortedMap()) { "$name: given" }
    case.steps.forEachIndexed { number, step ->
        if (step !is Call) {
            if (step is Meanwhile) write(opened.store, step.tree)
            if (step is Upkeep) keepUp(step, opened, "$name, step ${number + 1}")
            before = tree(opened.store)
            return@forEachIndexed
        }
        val where = "$name, step ${number + 1}: ${step.input.toString().take(300)}"
        val reply = execute(opened.memory, step.input.toString())
        assertEquals(step.content, reply.content, where)
        assertEquals(step.isError, reply.isError, where)
        val kind = reply.kind?.name?.lowercase()
        assertEquals(step.isError, kind != null, where)
        assertEquals(step.kind ?: kind, kind, where)
        assertEquals(step.image, reply.image?.let { it.mediaType to Content(it.bytes) }, where)
        val told = hooks?.take().orEmpty()
        assertEquals(listOfNotNull(step.event).size, told.size, where)
        step.event?.let { assertTrue(same(it, told.single())) { "$where: expected $it, got $told" } }
        assertEquals(step.event?.path("outcome")?.textValue() == "failed", reply.cause != null, where)
        opened.place?.let { assertFalse(it.toString() in reply.content, where) }
        val after = tree(opened.store)
        if (!step.expires && (step.isError || step.input.path("command").textValue() == "view")) {
            assertEquals(before.toSortedMap(), after.toSortedMap()) { "$where: it changed something" }
        }
        before = after
    }
    case.then?.let { assertEquals(it.toSortedMap(), before.toSortedMap()) { "$name: after the last step" } }
    // There is no file beside the memories.
    opened.place?.let { place -> assertEquals(listOf("memories"), place.listDirectoryEntries().map { it.name }, name) }

    opened.memory.clear()
    assertTrue(tree(opened.store).isEmpty()) { "$name: after clearing" }
    opened.memory.close()
}

private fun keepUp(step: Upkeep, opened: Opened, where: String) {
    when (step) {
        is Upkeep.Age ->
            for ((path, seconds) in step.ages) {
                val time = Instant.now().minusSeconds(seconds)
                opened.store.setModified(path, time)
                opened.store.recordAccess(path, time)
            }
        is Upkeep.Expire -> {
            val removed =
                try {
                    opened.memory.expire(step.olderThan, step.dryRun).map { it.path }
                } catch (refused: MemdirException.Config) {
                    null
                }
            assertEquals(step.removed, removed, where)
        }
    }
}
