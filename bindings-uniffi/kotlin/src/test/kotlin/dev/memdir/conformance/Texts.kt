/** Texts that a case describes instead of spelling them out; the format is in `tests/README.md`. */
package dev.memdir.conformance

import com.fasterxml.jackson.databind.JsonNode
import com.fasterxml.jackson.databind.node.JsonNodeFactory

/** The text that [value] contains or describes. */
fun text(value: JsonNode): String =
    when {
        value.isTextual -> value.textValue()
        value.isObject -> made(value)
        else -> throw IllegalArgumentException("$value is not a text")
    }

/** [value] with every description of a text in it replaced by the text. */
fun expanded(value: JsonNode): JsonNode {
    val make = JsonNodeFactory.instance
    return when {
        value.isArray -> make.arrayNode().addAll(value.map(::expanded))
        value.isObject && value.fieldNames().asSequence().any { it.startsWith("$") } -> make.textNode(made(value))
        value.isObject ->
            make.objectNode().apply { value.properties().forEach { (name, field) -> set<JsonNode>(name, expanded(field)) } }
        else -> value
    }
}

private fun made(form: JsonNode): String =
    when (val keys = form.fieldNames().asSequence().toSet()) {
        setOf("\$text") -> form["\$text"].joinToString("") { text(it) }
        setOf("\$repeat", "\$times") -> form["\$repeat"].textValue().repeat(form["\$times"].intValue())
        setOf("\$count", "\$each") -> {
            val (first, last) = form["\$count"].map { it.longValue() }
            val each = form["\$each"].textValue()
            (first..last).joinToString("") {
                each.replace("{n}", it.toString()).replace("{n:6}", it.toString().padStart(6))
            }
        }
        else -> throw IllegalArgumentException("an object with the keys $keys describes no text")
    }
