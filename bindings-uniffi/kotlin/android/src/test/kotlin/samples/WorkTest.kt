package samples

import android.content.Context
import androidx.test.core.app.ApplicationProvider
import androidx.work.Configuration
import androidx.work.ListenableWorker.Result
import androidx.work.WorkInfo
import androidx.work.WorkManager
import androidx.work.testing.SynchronousExecutor
import androidx.work.testing.TestListenableWorkerBuilder
import androidx.work.testing.WorkManagerTestInitHelper
import dev.memdir.Memory
import dev.memdir.MemoryOptions
import dev.memdir.openStore
import java.nio.file.Files
import java.time.Duration
import java.time.Instant
import java.util.concurrent.TimeUnit
import kotlinx.coroutines.runBlocking
import org.junit.Assert.assertEquals
import org.junit.Test
import org.junit.runner.RunWith
import org.robolectric.RobolectricTestRunner
import snippets.ExpireMemory
import snippets.schedule

/** The WorkManager worker that expires a memory's unused files. */
@RunWith(RobolectricTestRunner::class)
class WorkTest {
    private val context = ApplicationProvider.getApplicationContext<Context>()
    private val directory = context.filesDir.resolve("memory").toPath()

    @Test
    fun `the worker removes what was not used for 90 days`() {
        val memory = withOldFile()
        assertEquals(Result.success(), work())
        assertEquals(listOf("/memories/new.md"), paths(memory))
    }

    @Test
    fun `the worker tries again later if the store is broken`() {
        Files.write(directory, ByteArray(0))
        assertEquals(Result.retry(), work())
        Files.delete(directory)
        assertEquals(Result.success(), work())
    }

    @Test
    fun `WorkManager runs the worker once a day`() {
        val memory = withOldFile()
        val configuration = Configuration.Builder().setExecutor(SynchronousExecutor()).build()
        WorkManagerTestInitHelper.initializeTestWorkManager(context, configuration)
        schedule(context).result.get()
        // A second start of the app keeps the first schedule.
        schedule(context).result.get()

        val manager = WorkManager.getInstance(context)
        fun scheduled() = manager.getWorkInfosForUniqueWork("expire-memory").get().single()
        assertEquals(TimeUnit.DAYS.toMillis(1), scheduled().periodicityInfo!!.repeatIntervalMillis)
        assertEquals(ExpireMemory::class.java.name, scheduled().tags.single())
        WorkManagerTestInitHelper.getTestDriver(context)!!.setPeriodDelayMet(scheduled().id)
        // The worker runs on its own threads.
        val until = Instant.now().plusSeconds(60)
        fun done() = paths(memory).size == 1 && scheduled().state == WorkInfo.State.ENQUEUED
        while (!done() && Instant.now() < until) Thread.sleep(50)
        assertEquals(listOf("/memories/new.md"), paths(memory))
        assertEquals(WorkInfo.State.ENQUEUED, scheduled().state)
    }

    private fun work() = runBlocking { TestListenableWorkerBuilder<ExpireMemory>(context).build().doWork() }

    /** An app's memory, with a new file and one that was not used for 100 days. */
    private fun withOldFile(): Memory {
        val memory = Memory(directory, MemoryOptions(recordAccess = true))
        memory.create("/memories/new.md", "- likes tea")
        memory.create("/memories/old.md", "- lives in Porto")
        val then = Instant.now() - Duration.ofDays(100)
        openStore(directory).apply {
            setModified("/memories/old.md", then)
            recordAccess("/memories/old.md", then)
        }
        return memory
    }

    private fun paths(memory: Memory) = memory.list("/memories").map { it.path }
}
