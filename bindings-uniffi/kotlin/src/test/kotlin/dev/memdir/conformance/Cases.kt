/** Reads the case files, and rejects everything that is not in the format. */
package dev.memdir.conformance

import com.fasterxml.jackson.databind.DeserializationFeature
import com.fasterxml.jackson.databind.JsonNode
import com.fasterxml.jackson.databind.ObjectMapper
import dev.memdir.Durability
import dev.memdir.MemoryOptions
import dev.memdir.OnExisting
import dev.memdir.SensitiveText
import dev.memdir.StaleGuard
import java.nio.file.Files
import java.nio.file.Path
import java.time.Duration
import java.util.Base64
import kotlin.io.path.extension
import kotlin.io.path.name

/** The project's root. */
val root: Path = Path.of(System.getProperty("memdir.root")).toRealPath()

/** All entries of a store: canonical path → content, null for an empty directory. */
typealias Tree = Map<String, Content?>

/** Bytes that are compared by value. */
class Content(val bytes: ByteArray) {
    override fun equals(other: Any?) = other is Content && bytes.contentEquals(other.bytes)

    override fun hashCode() = bytes.contentHashCode()

    override fun toString() = "${bytes.size} bytes, ${bytes.decodeToString().take(200)}"
}

sealed interface Step

/** A tool call. */
class Call(
    val input: JsonNode,
    val content: String,
    val isError: Boolean,
    val kind: String? = null,
    val event: JsonNode? = null,
    val expires: Boolean = false,
    /** The media type, and the bytes. */
    val image: Pair<String, Content>? = null,
) : Step

/** A write by another program. */
class Meanwhile(val tree: Tree) : Step

/** A step that is not a tool call. */
sealed interface Upkeep : Step {
    /** Seconds by path. */
    class Age(val ages: Map<String, Long>) : Upkeep

    /** [removed] is null if the memory refuses. */
    class Expire(val olderThan: Duration, val dryRun: Boolean, val removed: List<String>?) : Upkeep
}

class Case(
    val file: String,
    val name: String,
    val options: MemoryOptions,
    val hooks: List<JsonNode>?,
    val given: Tree,
    val steps: List<Step>,
    val then: Tree?,
)

/** All cases, in the order of the files' names. */
fun cases(): List<Case> {
    val files = Files.list(root.resolve("tests/cases")).use { list -> list.filter { it.extension == "json" }.sorted().toList() }
    return files.flatMap { file ->
        // A decimal number keeps all of its digits.
        val json = ObjectMapper().enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS).readTree(file.toFile())
        taking(json, "about", "cases")
        json["cases"].map { case(file.name, it) }
    }
}

private fun case(file: String, json: JsonNode): Case {
    taking(json, "name", "rule", "options", "hooks", "given", "steps", "then")
    return Case(
        file,
        json["name"].textValue(),
        options(json["options"]),
        json["hooks"]?.let { it["before"].toList() },
        json["given"]?.let(::tree) ?: emptyMap(),
        json["steps"].map(::step),
        json["then"]?.let(::tree),
    )
}

private fun step(json: JsonNode): Step {
    json["meanwhile"]?.let {
        taking(json, "meanwhile")
        return Meanwhile(tree(it))
    }
    upkeep(json)?.let { return it }
    taking(json, "input", "content", "is_error", "without_images", "kind", "event", "expires")
    val input = expanded(json["input"])
    val isError = json["is_error"].booleanValue()
    val (kind, event) = json["kind"]?.textValue() to json["event"]?.let(::saying)
    val image = json["content"].takeIf { it.has("\$image") } ?: return Call(input, text(json["content"]), isError, kind, event, json.has("expires"))
    taking(image, "\$image", "\$base64")
    val (mediaType, bytes) = image["\$image"].textValue() to Base64.getDecoder().decode(image["\$base64"].textValue())
    return Call(input, "[$mediaType, ${bytes.size} bytes]", isError, kind, event, json.has("expires"), mediaType to Content(bytes))
}

private fun upkeep(json: JsonNode): Upkeep? {
    json["age"]?.let { ages ->
        taking(json, "age")
        return Upkeep.Age(ages.properties().associate { it.key to it.value.longValue() })
    }
    val expire = json["expire"] ?: return null
    taking(json, "expire", "removed", "refused")
    taking(expire, "older_than", "dry_run")
    val removed = json["removed"]?.map { it.textValue() }
    require((removed == null) == json.path("refused").booleanValue()) { "removed, or refused" }
    return Upkeep.Expire(seconds(expire["older_than"]), expire.path("dry_run").booleanValue(), removed)
}

private fun seconds(value: JsonNode) = Duration.ofMillis((value.doubleValue() * 1000).toLong())

private val MAPPER = ObjectMapper()

private fun options(json: JsonNode?): MemoryOptions {
    // No case tests a loss of power.
    val builder = MemoryOptions.builder().durability(Durability.RELAXED)
    json?.properties()?.forEach { (name, value) ->
        val camel = name.replace(Regex("_(.)")) { it.groupValues[1].uppercase() }
        // A number option has two methods; one also takes null.
        val method =
            builder.javaClass.methods.singleOrNull { it.name == camel && it.parameterTypes[0] != Long::class.javaPrimitiveType }
        requireNotNull(method) { "there is no option $name" }
        val type = method.parameterTypes[0]
        method.invoke(
            builder,
            when {
                type == Duration::class.java && !value.isNull -> seconds(value)
                type.isEnum -> type.enumConstants.single { (it as Enum<*>).name == value.textValue().uppercase() }
                else -> MAPPER.convertValue(value, MAPPER.typeFactory.constructType(method.genericParameterTypes[0]))
            },
        )
    }
    return builder.build()
}

private fun tree(json: JsonNode): Tree = json.properties().associate { (path, value) -> path to content(value) }

private fun content(value: JsonNode): Content? =
    when {
        value.isNull -> null
        value.isObject && value.has("\$base64") -> {
            taking(value, "\$base64")
            Content(Base64.getDecoder().decode(value["\$base64"].textValue()))
        }
        else -> Content(text(value).toByteArray())
    }

/** Fails if [json] has a field that is not one of [names]. */
private fun taking(json: JsonNode, vararg names: String) {
    val other = json.fieldNames().asSequence().filter { it !in names }.toList()
    require(other.isEmpty()) { "$other is not in the format" }
}
