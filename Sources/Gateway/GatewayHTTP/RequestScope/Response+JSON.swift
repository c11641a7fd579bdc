import HTTPTypes
import Hummingbird
import NIOCore
import StrictJSON

extension Response {
    /// An answer that no cache may keep: a signature is for one purchase.
    static func json(
        _ bytes: [UInt8], as contentType: String = "application/json", status: HTTPResponse.Status = .ok,
        headers: HTTPFields = [:]
    ) -> Response {
        var headers = headers
        headers[.contentType] = contentType
        headers[.cacheControl] = "no-store"
        return Response(status: status, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
    }

    static func json(
        _ value: some Encodable, as contentType: String = "application/json", status: HTTPResponse.Status = .ok,
        headers: HTTPFields = [:]
    ) -> Response {
        json(JSONText.encode(value), as: contentType, status: status, headers: headers)
    }
}
