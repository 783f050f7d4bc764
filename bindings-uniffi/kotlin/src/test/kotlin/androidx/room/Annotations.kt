/**
 * Room's annotations, as far as the example has them, so that these tests need no library of Google's. They do nothing: the
 * tests have a table in a map instead. `make test-kotlin-android` compiles the example with Room itself.
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
