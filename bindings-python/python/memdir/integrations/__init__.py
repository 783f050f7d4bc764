"""The memory tool for agent frameworks: one module for each, which imports it when you do.

Each takes a `Memory` or an `AsyncMemory`, so its options, policies and hooks are those of the tool.
What the frameworks can do is listed in docs/integrations/index.md.
"""
