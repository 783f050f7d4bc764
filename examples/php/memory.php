<?php

/** A memory from PHP, with FFI: how a program handles a tool call of the model. */

declare(strict_types=1);

/** The memory directory of an agent. */
final class Memory
{
    /** The functions of memdir.h. */
    private const FUNCTIONS = <<<'C'
        uint64_t memdir_open(const char *address, const char *options, char **error);
        char *memdir_execute(uint64_t memory, const char *input, char **error);
        bool memdir_close(uint64_t memory);
        void memdir_free(char *text);
        C;

    private FFI $library;
    private int $number;

    /** Opens the store at the address, with options such as ['max_files' => 100]. */
    public function __construct(string $address, array $options = [])
    {
        // MEMDIR_LIBRARY is the path of a library outside the system's search path.
        $name = PHP_OS_FAMILY === 'Darwin' ? 'libmemdir_c.dylib' : 'libmemdir_c.so';
        $this->library = FFI::cdef(self::FUNCTIONS, getenv('MEMDIR_LIBRARY') ?: $name);
        $error = $this->library->new('char *');
        $json = json_encode((object) $options, JSON_THROW_ON_ERROR);
        $this->number = $this->library->memdir_open($address, $json, FFI::addr($error));
        if (($failed = $this->taken($error)) !== null) {
            throw new RuntimeException($failed['message']);
        }
    }

    /**
     * Executes one tool call: 'content' and 'is_error' of the tool_result.
     *
     * @param array<string, mixed> $input
     * @param ?Closure(array): void $failed is called if the store itself failed
     */
    public function execute(array $input, ?Closure $failed = null): array
    {
        $error = $this->library->new('char *');
        $json = json_encode((object) $input, JSON_THROW_ON_ERROR);
        $reply = $this->taken($this->library->memdir_execute($this->number, $json, FFI::addr($error)));
        $cause = $this->taken($error);
        if ($cause !== null && $failed !== null) {
            $failed($cause);
        }
        return $reply;
    }

    public function close(): void
    {
        $this->library->memdir_close($this->number);
    }

    /** Decodes a text of the library, and frees it. */
    private function taken(?FFI\CData $text): ?array
    {
        if ($text === null || FFI::isNull($text)) {
            return null;
        }
        try {
            return json_decode(FFI::string($text), true, 512, JSON_THROW_ON_ERROR);
        } finally {
            $this->library->memdir_free($text);
        }
    }
}

if (realpath($_SERVER['SCRIPT_FILENAME']) === __FILE__) {
    $memory = new Memory($argv[1] ?? 'memory:', ['max_files' => 100]);
    $inputs = [
        ['command' => 'create', 'path' => '/memories/notes.md', 'file_text' => "- likes tea\n"],
        ['command' => 'view', 'path' => '/memories/notes.md'],
        ['command' => 'view', 'path' => '/memories/../etc/passwd'],
    ];
    foreach ($inputs as $input) {
        $reply = $memory->execute($input, fn (array $error) => error_log($error['message']));
        echo $reply['is_error'] ? 'error: ' : '', $reply['content'], "\n";
    }
    $memory->close();
    try {
        new Memory('memory:', ['max_file' => 1]);
    } catch (RuntimeException $error) {
        echo $error->getMessage(), "\n";
    }
}
