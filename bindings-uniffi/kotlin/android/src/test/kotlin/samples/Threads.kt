/** Room refuses to run on the main thread, but Robolectric runs the tests there. */
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
