/** Room refuses to work on the main thread, on which Robolectric runs the tests. */
package samples

import java.util.concurrent.CompletableFuture
import java.util.concurrent.ExecutionException

fun <T> inBackground(work: () -> T): Unit =
    try {
        CompletableFuture.supplyAsync(work).get()
        Unit
    } catch (failed: ExecutionException) {
        throw failed.cause!!
    }
