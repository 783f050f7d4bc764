package frameworks;

import java.util.ArrayList;
import java.util.List;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;

/** Records the warnings of the adapters' logger, until it is closed. */
final class Log extends Handler implements AutoCloseable {
    final List<String> warnings = new ArrayList<>();
    private final Logger logger = Logger.getLogger("dev.memdir");

    Log() {
        logger.setUseParentHandlers(false);
        logger.addHandler(this);
    }

    @Override
    public void publish(LogRecord record) {
        warnings.add(record.getMessage());
    }

    @Override
    public void flush() {}

    @Override
    public void close() {
        logger.removeHandler(this);
        logger.setUseParentHandlers(true);
    }
}
