"""The memory tool for agent frameworks: one module for each, which imports it when you do.

Each takes a `Memory` or an `AsyncMemory`, whose options, policies and hooks apply to the tool.
docs/integrations/index.md lists what the frameworks support.
"""
