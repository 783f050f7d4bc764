import Foundation
import Memdir
import XCTest

/// The HTTP status for a kind of error.
func status(of kind: ErrorKind) -> Int {
    switch kind {
    case .invalid, .noMatch, .severalMatches: 400
    case .readOnly, .permissionDenied, .fixed, .sensitive, .denied: 403
    case .notFound: 404
    case .exists, .isADirectory, .notADirectory, .stale, .changed: 409
    case .tooLarge: 413
    case .notText: 415
    case .outcomeUnknown, .hookFailed, .config: 500
    case .busy, .cancelled, .unavailable: 503
    case .full: 507
    }
}

/// The statuses of a server, which `docs/reference/errors.md` quotes.
final class StatusTests: XCTestCase {
    func testEachKindOfErrorHasTheStatusOfTheDocumentation() throws {
        let page = try String(contentsOf: root.appendingPathComponent("docs/reference/behaviour.md"), encoding: .utf8)
        let rows = page.components(separatedBy: "\n")
            .map { $0.components(separatedBy: "|").map { $0.trimmingCharacters(in: .whitespaces) } }
            .filter { $0.count == 5 && $0[1].hasPrefix("`") && Int($0[3]) != nil }
        XCTAssertGreaterThanOrEqual(rows.count, 23)
        for row in rows {
            let kind = try XCTUnwrap(ErrorKind(rawValue: row[1].trimmingCharacters(in: CharacterSet(charactersIn: "`"))))
            XCTAssertEqual(Int(row[3]), status(of: kind), row[1])
        }
    }
}
