import Foundation

/// Any JSON value. Integers, other numbers and booleans are different cases.
enum JSON: Codable {
    case null
    case bool(Bool)
    case integer(Int64)
    case number(Double)
    case string(String)
    case array([JSON])
    case object([String: JSON])

    init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        if value.decodeNil() {
            self = .null
        } else if let flag = try? value.decode(Bool.self) {
            self = .bool(flag)
        } else if let integer = try? value.decode(Int64.self) {
            self = .integer(integer)
        } else if let number = try? value.decode(Double.self) {
            self = .number(number)
        } else if let text = try? value.decode(String.self) {
            self = .string(text)
        } else if let items = try? value.decode([JSON].self) {
            self = .array(items)
        } else {
            self = .object(try value.decode([String: JSON].self))
        }
    }

    func encode(to encoder: any Encoder) throws {
        var value = encoder.singleValueContainer()
        switch self {
        case .null: try value.encodeNil()
        case .bool(let flag): try value.encode(flag)
        case .integer(let integer): try value.encode(integer)
        case .number(let number): try value.encode(number)
        case .string(let text): try value.encode(text)
        case .array(let items): try value.encode(items)
        case .object(let fields): try value.encode(fields)
        }
    }

    /// The value as JSON text.
    func encoded() throws -> String { String(decoding: try JSONEncoder().encode(self), as: UTF8.self) }

    func string() throws -> String {
        guard case .string(let text) = self else { throw Problem("\(self) is no string") }
        return text
    }

    func integer() throws -> Int64 {
        guard case .integer(let integer) = self else { throw Problem("\(self) is no integer") }
        return integer
    }

    func items() throws -> [JSON] {
        guard case .array(let items) = self else { throw Problem("\(self) is no list") }
        return items
    }

    /// The fields of an object. Throws if a field is not in `known`.
    func fields(of known: [String]) throws -> [String: JSON] {
        guard case .object(let fields) = self else { throw Problem("\(self) is no object") }
        let other = fields.keys.filter { !known.contains($0) }
        guard other.isEmpty else { throw Problem("\(other) is not in the format") }
        return fields
    }
}

extension [String: JSON] {
    func need(_ name: String) throws -> JSON {
        guard let value = self[name] else { throw Problem("\(name) is missing") }
        return value
    }
}
