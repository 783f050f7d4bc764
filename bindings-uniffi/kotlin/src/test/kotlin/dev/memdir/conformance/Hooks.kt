/** The hooks that a case describes, and the events that it expects; the format is in `tests/README.md`. */
package dev.memdir.conformance

import com.fasterxml.jackson.databind.JsonNode
import com.fasterxml.jackson.databind.node.JsonNodeFactory
import com.fasterxml.jackson.databind.node.ObjectNode
import dev.memdir.HookCall
import dev.memdir.Command
import dev.memdir.Event
import dev.memdir.MemoryHooks
import dev.memdir.HookDecision
import java.util.concurrent.ConcurrentLinkedQueue

/** Hooks that apply the first matching rule of [rules]. */
class CaseHooks(private val rules: List<JsonNode>) : MemoryHooks {
    private val told = ConcurrentLinkedQueue<JsonNode>()

    /** The events of `after` since the last call of this function. */
    fun take(): List<JsonNode> = generateSequence { told.poll() }.toList()

    override fun before(command: Command, call: HookCall): HookDecision = decide(command)

    fun decide(command: Command): HookDecision {
        val fields = fields(command)
        val rule = rules.find { rule -> rule["when"].properties().all { (name, wanted) -> same(fields[name], expanded(wanted)) } }
        return when {
            rule == null -> HookDecision.Allow
            rule.has("deny") -> HookDecision.Deny(text(rule["deny"]))
            rule.has("fail") -> error(text(rule["fail"]))
            else -> {
                val (old, new) = rule["replace"].map(::text)
                HookDecision.Replace(written(command).replace(old, new))
            }
        }
    }

    override fun after(event: Event) {
        check(!event.duration.isNegative)
        val node = node()
        node.put("command", event.command).put("path", event.path).put("new_path", event.newPath)
        node.put("outcome", event.outcome.name.lowercase()).put("bytes", event.bytes).put("lines", event.lines)
        node.putArray("repairs").apply { event.repairs.forEach(::add) }
        node.put("content", event.content)
        told.add(saying(node))
    }
}

/** The fields with a value: no null, no 0, no empty list. */
fun saying(event: JsonNode): JsonNode =
    node().apply {
        for ((name, value) in event.properties()) {
            val nothing = value.isNull || (value.isNumber && value.longValue() == 0L) || (value.isArray && value.isEmpty)
            if (!nothing) set<JsonNode>(name, expanded(value))
        }
    }

/** True if both are the same JSON, regardless of the number types. */
fun same(one: JsonNode?, other: JsonNode?): Boolean =
    when {
        one == null || other == null -> one === other
        one.isObject && other.isObject ->
            one.size() == other.size() && one.properties().all { (name, value) -> same(value, other[name]) }
        else -> one.toString() == other.toString()
    }

private fun node(): ObjectNode = JsonNodeFactory.instance.objectNode()

private fun fields(command: Command): ObjectNode {
    val node = node()
    when (command) {
        is Command.View -> {
            node.put("command", "view").put("path", command.path)
            command.viewRange?.let { range -> node.putArray("view_range").apply { range.forEach(::add) } }
        }
        is Command.Create -> node.put("command", "create").put("path", command.path).put("file_text", command.fileText)
        is Command.StrReplace -> {
            node.put("command", "str_replace").put("path", command.path)
            node.put("old_str", command.oldStr).put("new_str", command.newStr)
        }
        is Command.Insert -> {
            node.put("command", "insert").put("path", command.path)
            node.put("insert_line", command.insertLine).put("insert_text", command.insertText)
        }
        is Command.Delete -> node.put("command", "delete").put("path", command.path)
        is Command.Rename -> {
            node.put("command", "rename").put("old_path", command.oldPath).put("new_path", command.newPath)
        }
    }
    return node
}

private fun written(command: Command): String =
    when (command) {
        is Command.Create -> command.fileText
        is Command.StrReplace -> command.newStr
        is Command.Insert -> command.insertText
        else -> error("$command writes no text")
    }
