# A memory from Ruby, with Fiddle: how a program handles a tool call of the model.

require "fiddle/import"
require "json"

# The memory directory of an agent.
class Memory
  # The functions of memdir.h.
  module Library
    extend Fiddle::Importer
    # MEMDIR_LIBRARY is the path of a library outside the system's search path.
    dlload ENV.fetch("MEMDIR_LIBRARY", RUBY_PLATFORM.include?("darwin") ? "libmemdir_c.dylib" : "libmemdir_c.so")
    extern "unsigned long long memdir_open(const char *, const char *, char **)"
    extern "char *memdir_execute(unsigned long long, const char *, char **)"
    extern "char memdir_close(unsigned long long)"
    extern "void memdir_free(char *)"
  end

  class Error < StandardError; end

  # Opens the store at the address, with options such as max_files: 100.
  def initialize(address, **options)
    @number, error = with_error { |place| Library.memdir_open(address, JSON.generate(options), place) }
    raise Error, error["message"] if error
  end

  # Executes one tool call, and returns "content" and "is_error" of the tool_result. The block gets a failure of
  # the store.
  def execute(input)
    reply, error = with_error { |place| Library.memdir_execute(@number, JSON.generate(input), place) }
    yield error if error && block_given?
    JSON.parse(taken(reply))
  end

  def close
    Library.memdir_close(@number)
  end

  private

  # Calls a function that writes an error.
  def with_error
    place = Fiddle::Pointer.malloc(Fiddle::SIZEOF_VOIDP, Fiddle::RUBY_FREE)
    value = yield place
    error = place.ptr
    [value, error.null? ? nil : JSON.parse(taken(error))]
  end

  # Copies a text of the library, and frees it.
  def taken(pointer)
    pointer.to_s.force_encoding(Encoding::UTF_8)
  ensure
    Library.memdir_free(pointer)
  end
end

if $PROGRAM_NAME == __FILE__
  memory = Memory.new(ARGV.fetch(0, "memory:"), max_files: 100)
  [
    { command: "create", path: "/memories/notes.md", file_text: "- likes tea\n" },
    { command: "view", path: "/memories/notes.md" },
    { command: "view", path: "/memories/../etc/passwd" },
  ].each do |input|
    reply = memory.execute(input) { |error| warn error }
    puts "#{reply["is_error"] ? "error: " : ""}#{reply["content"]}"
  end
  memory.close
  begin
    Memory.new("memory:", max_file: 1)
  rescue Memory::Error => error
    puts error.message
  end
end
