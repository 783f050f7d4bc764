/**
 * The Room annotations that the example uses, so these tests do not need Google's libraries. They do nothing: the tests use
 * a map as the table. `make test-kotlin-android` compiles the example with Room itself.
 */
package androidx.room

annotation class Dao

annotation class Entity(val tableName: String, val indices: Array<Index>)

annotation class Index(vararg val value: String)

@Target(AnnotationTarget.PROPERTY, AnnotationTarget.VALUE_PARAMETER, AnnotationTarget.FIELD)
annotation class PrimaryKey

annotation class Query(val value: String)

annotation class Transaction

annotation class Upsert
