package dev.memdir

import java.util.concurrent.ConcurrentLinkedQueue
import java.util.logging.Handler
import java.util.logging.LogRecord
import java.util.logging.Logger

/** What the library logs while [work] runs, which the console is not told. */
fun logged(work: () -> Unit): List<LogRecord> {
    val logger = Logger.getLogger("dev.memdir")
    val records = ConcurrentLinkedQueue<LogRecord>()
    val keeper =
        object : Handler() {
            override fun publish(record: LogRecord) {
                records += record
            }

            override fun flush() = Unit

            override fun close() = Unit
        }
    logger.useParentHandlers = false
    logger.addHandler(keeper)
    try {
        work()
    } finally {
        logger.removeHandler(keeper)
        logger.useParentHandlers = true
    }
    return records.toList()
}
