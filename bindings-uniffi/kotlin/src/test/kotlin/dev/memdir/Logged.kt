package dev.memdir

import java.util.concurrent.ConcurrentLinkedQueue
import java.util.logging.Handler
import java.util.logging.LogRecord
import java.util.logging.Logger

/** The library's log records while [work] runs. They are not printed on the console. */
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
