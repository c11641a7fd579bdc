package privyseal;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodySubscriber;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Flow;
import java.util.concurrent.FutureTask;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/** A client of the PrivySeal gateway. It needs only Java 17, and may be used by several threads. */
public final class PrivySeal {
    /**
     * One gateway.
     *
     * @param url the address of the public listener, such as https://gateway.example.com:8443
     * @param tokenFile contains the bearer token; the client reads it for each request, so the token can be replaced
     * @param caFile trusted certificates in PEM, or null for those of Java
     * @param timeout the limit of each attempt; the gateway's own limit is 10 s
     * @param maxWait the longest Retry-After that the client waits for
     */
    public record Options(String url, Path tokenFile, Path caFile, Duration timeout, Duration maxWait, int maxAnswerBytes) {
        public Options(String url, Path tokenFile) {
            this(url, tokenFile, null, Duration.ofSeconds(15), Duration.ofSeconds(10), 1 << 20);
        }
    }

    /**
     * The answer of a feature. Members that the feature does not have are null or 0.
     *
     * @param issuedAt seconds since 1970
     * @param timestamp milliseconds since 1970; a member of legacy-promotional-offer, as keyIdentifier and signature
     * @param json the answer as received, which a server can pass to its app
     */
    public record Offer(
            String jws, String keyId, String nonce, long issuedAt, String advancedCommerceData, String keyIdentifier,
            long timestamp, String signature, String json) {}

    /** A bearer token for a service of Apple. The times are in seconds since 1970. */
    public record Token(String token, String keyId, long issuedAt, long expiresAt, long refreshAfter) {
        /** Without the token, because programs log what they print. */
        @Override
        public String toString() {
            return "Token[keyId=" + keyId + ", expiresAt=" + expiresAt + "]";
        }
    }

    /** An error answer of the gateway (RFC 9457). */
    public static final class Problem extends IOException {
        public final String type, title, detail, requestId;
        public final int status;
        /** The wrong member of the request, or an empty text. */
        public final String field;
        /** Null if the answer has no Retry-After; LONGEST if it is not a number of at most 9 digits. */
        public final Duration retryAfter;
        /** Longer than each limit. */
        public static final Duration LONGEST = Duration.ofSeconds(Long.MAX_VALUE);

        Problem(int status, Map<String, Object> members, String requestId, Duration retryAfter) {
            super("the gateway answered " + status + " " + text(members, "type", "about:blank") + ": "
                    + text(members, "detail", "") + " (request " + text(members, "requestId", requestId) + ")");
            this.status = status;
            this.type = text(members, "type", "about:blank");
            this.title = text(members, "title", "");
            this.detail = text(members, "detail", "");
            this.field = text(members, "field", "");
            this.requestId = text(members, "requestId", requestId);
            this.retryAfter = retryAfter;
        }

        /** RFC 9457 §3.1: a member of the wrong kind is ignored. */
        private static String text(Map<String, Object> members, String name, String otherwise) {
            return members.get(name) instanceof String text ? text : otherwise;
        }
    }

    /** An answer that does not follow the HTTP API. */
    public static final class InvalidAnswer extends IOException {
        InvalidAnswer(String reason, String requestId) {
            super("the answer is invalid: " + reason + " (request " + requestId + ")");
        }
    }

    /** An attempt without a complete answer. */
    public static final class ConnectionError extends IOException {
        ConnectionError(Throwable cause) {
            super("no answer from the gateway: " + cause, cause);
        }
    }

    private final Options options;
    private final String url;
    private final HttpClient http;
    /** The request for each token that is under way or still valid. */
    private final Map<String, FutureTask<ReceivedToken>> tokens = new HashMap<>();

    public PrivySeal(Options options) throws IOException, GeneralSecurityException {
        if (!options.url.matches("https?://[^/?#@\\s]+(/[^?#\\s]*)?")) {
            throw new IllegalArgumentException("the URL must be https://HOST or http://HOST, with an optional port and path");
        }
        this.options = options;
        this.url = options.url.replaceAll("/+$", "");
        // HttpClient would open a connection for each request to offer HTTP/2. It follows no redirects. Without NO_PROXY,
        // system properties could send the bearer token through another machine.
        var builder = HttpClient.newBuilder()
                .version(HttpClient.Version.HTTP_1_1)
                .proxy(HttpClient.Builder.NO_PROXY)
                .connectTimeout(options.timeout);
        if (options.caFile != null) {
            builder.sslContext(trusting(options.caFile));
        }
        this.http = builder.build();
    }

    /** Asks for a signature. A feature that this client does not know returns only json. */
    public Offer offer(String bundleId, String feature, Map<String, ?> fields) throws IOException, InterruptedException {
        var answer = post("/v1/apps/" + segment(bundleId) + "/" + segment(feature), Json.write(fields));
        var members = OFFERS.getOrDefault(feature, List.of());
        answer.check(members);
        // A member that the feature does not have was not checked, so it is not used.
        answer.members.keySet().retainAll(members.stream().map(Member::name).toList());
        return new Offer(
                answer.text("jws"), answer.text("keyId"), answer.text("nonce"), answer.number("issuedAt"),
                answer.text("advancedCommerceData"), answer.text("keyIdentifier"), answer.number("timestamp"),
                answer.text("signature"), answer.json);
    }

    /** Returns a token for the App Store Server API. */
    public Token appToken(String bundleId) throws IOException, InterruptedException {
        return token("/v1/apps/" + segment(bundleId) + "/app-store-server-api", "{}");
    }

    /** Returns a token for a service of the gateway's configuration. */
    public Token serviceToken(String name, Map<String, ?> fields) throws IOException, InterruptedException {
        return token("/v1/services/" + segment(name) + "/token", Json.write(fields));
    }

    private Token token(String path, String body) throws IOException, InterruptedException {
        FutureTask<ReceivedToken> request;
        synchronized (tokens) {
            tokens.values().removeIf(PrivySeal::isOver);
            request = tokens.get(path + "\n" + body);
            if (request == null) {
                request = new FutureTask<>(() -> requestToken(path, body));
                tokens.put(path + "\n" + body, request);
                // Other callers may wait for the same request, so an interrupt of this thread must not end it.
                var thread = new Thread(request, "privyseal-token");
                thread.setDaemon(true);
                thread.start();
            }
        }
        try {
            return request.get().token;
        } catch (ExecutionException error) {
            if (error.getCause() instanceof IOException cause) {
                throw cause;
            }
            throw new IOException(error.getCause());
        }
    }

    /** Whether the request failed, or its token should be replaced. */
    private static boolean isOver(FutureTask<ReceivedToken> request) {
        try {
            return request.isDone() && request.get().isOver();
        } catch (ExecutionException | InterruptedException error) {
            return true;
        }
    }

    /**
     * A token in the cache.
     *
     * @param asked when the client sent the request, from System.nanoTime()
     * @param answered when the gateway answered, by its own clock in seconds since 1970; 0 if the answer has no valid Date
     */
    private record ReceivedToken(Token token, long asked, long answered) {
        /**
         * Whether the token should be replaced. The clock of this machine may be wrong, so the time since the request is also
         * compared with the difference of two times of the gateway.
         */
        boolean isOver() {
            // The gateway may have issued the token long before it answered.
            long start = Math.max(token.issuedAt, answered);
            return System.currentTimeMillis() / 1000 >= token.refreshAfter
                    || TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - asked) >= token.refreshAfter - start;
        }
    }

    private ReceivedToken requestToken(String path, String body) throws IOException, InterruptedException {
        var answer = post(path, body);
        answer.check(TOKEN);
        var token = new Token(
                answer.text("token"), answer.text("keyId"), answer.number("issuedAt"), answer.number("expiresAt"),
                answer.number("refreshAfter"));
        if (token.refreshAfter < token.issuedAt || token.expiresAt < token.refreshAfter) {
            throw new InvalidAnswer("\"issuedAt\", \"refreshAfter\" and \"expiresAt\" are not in order", answer.requestId);
        }
        return new ReceivedToken(token, answer.asked, answer.answered);
    }

    /** Sends a request up to three times. */
    private Answer post(String path, String body) throws IOException, InterruptedException {
        for (int attempt = 1; ; attempt++) {
            try {
                return attempt(path, body);
            } catch (Problem | ConnectionError error) {
                long wait = attempt <= 2 ? waitBeforeRetry(error, attempt) : -1;
                if (wait < 0) {
                    throw error;
                }
                Thread.sleep(wait);
            }
        }
    }

    /** The milliseconds to wait according to "Retrying" of docs/http-api.md; negative for no retry. */
    private long waitBeforeRetry(IOException error, int attempt) {
        if (!(error instanceof Problem problem)) {
            return 0;
        }
        var after = problem.retryAfter;
        if (after != null && (after.compareTo(options.maxWait) > 0 || after.equals(Problem.LONGEST))) {
            return -1;
        }
        // Less than one second. Callers that were refused together do not return together.
        long random = ThreadLocalRandom.current().nextLong(1000);
        return switch (problem.status) {
            case 408 -> 0;
            case 500 -> attempt == 1 ? 0 : -1;
            case 504 -> after == null ? 0 : after.toMillis();
            case 429 -> after == null ? -1 : after.toMillis() + random;
            // The gateway always sends Retry-After. A proxy may not.
            case 503 -> (after == null ? 1000 : after.toMillis()) + random;
            default -> -1;
        };
    }

    private Answer attempt(String path, String body) throws IOException, InterruptedException {
        var request = HttpRequest.newBuilder(URI.create(url + path))
                .header("Authorization", "Bearer " + readToken())
                .header("Content-Type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString(body))
                .build();
        long asked = System.nanoTime();
        var exchange = http.sendAsync(request, response -> new LimitedBody(options.maxAnswerBytes));
        HttpResponse<byte[]> response;
        try {
            // HttpRequest.timeout would not limit the time for the body.
            response = exchange.get(options.timeout.toMillis(), TimeUnit.MILLISECONDS);
        } catch (ExecutionException error) {
            throw new ConnectionError(error.getCause());
        } catch (TimeoutException error) {
            throw new ConnectionError(error);
        } finally {
            // After a timeout or an interrupt, this closes the connection.
            exchange.cancel(true);
        }
        var headers = response.headers();
        var requestId = headers.firstValue("X-Request-Id").orElse("");
        if (response.body() == null) {
            throw new InvalidAnswer("it has more than " + options.maxAnswerBytes + " bytes", requestId);
        }
        var json = new String(response.body(), StandardCharsets.UTF_8);
        if (response.statusCode() >= 400) {
            var after = headers.firstValue("Retry-After");
            var type = headers.firstValue("Content-Type").orElse("").toLowerCase();
            // A proxy may answer with another content type. Then only the status is known.
            var members = type.matches("application/problem\\+json\\s*(;.*)?") ? Json.readObject(json) : null;
            throw new Problem(
                    response.statusCode(), members == null ? Map.of() : members, requestId,
                    after.map(PrivySeal::retryAfter).orElse(null));
        }
        if (response.statusCode() != 200) {
            throw new InvalidAnswer("its status is " + response.statusCode(), requestId);
        }
        return new Answer(json, Json.readObject(json), requestId, asked, seconds(headers.firstValue("Date").orElse("")));
    }

    private static Duration retryAfter(String text) {
        return text.matches("[0-9]{1,9}") ? Duration.ofSeconds(Long.parseLong(text)) : Problem.LONGEST;
    }

    /** A date of HTTP (RFC 9110 §5.6.7) in seconds since 1970, or 0 if it is not valid. */
    private static long seconds(String date) {
        try {
            return DateTimeFormatter.RFC_1123_DATE_TIME.parse(date, Instant::from).getEpochSecond();
        } catch (DateTimeException error) {
            return 0;
        }
    }

    private String readToken() throws IOException {
        var token = Files.readString(options.tokenFile, StandardCharsets.ISO_8859_1).strip();
        // RFC 6750 §2.1
        if (!token.matches("[A-Za-z0-9._~+/=-]+")) {
            throw new IOException(options.tokenFile + " does not contain a bearer token");
        }
        return token;
    }

    private static SSLContext trusting(Path caFile) throws IOException, GeneralSecurityException {
        var store = KeyStore.getInstance(KeyStore.getDefaultType());
        store.load(null, null);
        try (InputStream pem = Files.newInputStream(caFile)) {
            for (Certificate certificate : CertificateFactory.getInstance("X.509").generateCertificates(pem)) {
                store.setCertificateEntry("ca-" + store.size(), certificate);
            }
        }
        if (store.size() == 0) {
            throw new IOException(caFile + " contains no certificate in PEM");
        }
        var managers = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        managers.init(store);
        var context = SSLContext.getInstance("TLS");
        context.init(null, managers.getTrustManagers(), null);
        return context;
    }

    /** One segment of a path. URLEncoder is for forms, where a space becomes a plus sign. */
    private static String segment(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
    }

    /** A required member of an answer, what it is, and the check of its value. */
    private record Member(String name, String kind, Predicate<Object> isValid) {}

    private static final Pattern
            NONCE = Pattern.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"),
            BASE64 = Pattern.compile("[A-Za-z0-9+/]+={0,2}"),
            BASE64URL = Pattern.compile("[A-Za-z0-9_-]+");
    private static final List<Member>
            JWS = List.of(jws("jws"), keyId("keyId"), nonce(), positive("issuedAt")),
            ADVANCED_COMMERCE = List.of(JWS.get(0), JWS.get(1), JWS.get(2), JWS.get(3), base64("advancedCommerceData")),
            LEGACY = List.of(keyId("keyIdentifier"), nonce(), positive("timestamp"), base64("signature")),
            TOKEN = List.of(jws("token"), keyId("keyId"), positive("issuedAt"), positive("expiresAt"), positive("refreshAfter"));
    private static final Map<String, List<Member>> OFFERS = Map.of(
            "promotional-offer", JWS, "introductory-offer-eligibility", JWS, "advanced-commerce-api", ADVANCED_COMMERCE,
            "legacy-promotional-offer", LEGACY);

    private static Member text(String name, String kind, Predicate<String> isValid) {
        return new Member(name, kind, value -> value instanceof String text && isValid.test(text));
    }

    private static Member keyId(String name) {
        return text(name, "a text that is not empty", text -> !text.isEmpty());
    }

    private static Member nonce() {
        return text("nonce", "a UUID in lower case", text -> NONCE.matcher(text).matches());
    }

    private static Member positive(String name) {
        return new Member(name, "a positive integer", value -> value instanceof Long number && number > 0);
    }

    private static Member base64(String name) {
        return text(name, "padded Base64", text -> text.length() % 4 == 0 && BASE64.matcher(text).matches());
    }

    private static Member jws(String name) {
        return text(name, "a JWS in compact serialization", text -> {
            var parts = text.split("\\.", -1);
            // Base64url without padding: one character is left over for no number of bytes.
            return parts.length == 3
                    && List.of(parts).stream().allMatch(part -> BASE64URL.matcher(part).matches() && part.length() % 4 != 1);
        });
    }

    /** An answer with status 200. members is null if it is not a JSON object. The times are those of ReceivedToken. */
    private record Answer(String json, Map<String, Object> members, String requestId, long asked, long answered) {
        void check(List<Member> required) throws InvalidAnswer {
            if (members == null) {
                throw new InvalidAnswer("it is not a JSON object", requestId);
            }
            for (var member : required) {
                if (!members.containsKey(member.name)) {
                    throw new InvalidAnswer("\"" + member.name + "\" is missing", requestId);
                }
                if (!member.isValid.test(members.get(member.name))) {
                    throw new InvalidAnswer("\"" + member.name + "\" is not " + member.kind, requestId);
                }
            }
        }

        String text(String name) {
            return (String) members.get(name);
        }

        long number(String name) {
            return members.get(name) instanceof Long number ? number : 0;
        }
    }

    /** Collects a body. The result is null if the body is longer than the limit. */
    private static final class LimitedBody implements BodySubscriber<byte[]> {
        private final CompletableFuture<byte[]> result = new CompletableFuture<>();
        private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        private final int limit;
        private Flow.Subscription subscription;

        LimitedBody(int limit) {
            this.limit = limit;
        }

        @Override
        public CompletionStage<byte[]> getBody() {
            return result;
        }

        @Override
        public void onSubscribe(Flow.Subscription subscription) {
            this.subscription = subscription;
            subscription.request(Long.MAX_VALUE);
        }

        @Override
        public void onNext(List<ByteBuffer> buffers) {
            for (var buffer : buffers) {
                if (result.isDone() || bytes.size() + buffer.remaining() > limit) {
                    subscription.cancel();
                    result.complete(null);
                    return;
                }
                var part = new byte[buffer.remaining()];
                buffer.get(part);
                bytes.writeBytes(part);
            }
        }

        @Override
        public void onError(Throwable error) {
            result.completeExceptionally(error);
        }

        @Override
        public void onComplete() {
            result.complete(bytes.toByteArray());
        }
    }

    /** JSON (RFC 8259), which Java's library does not have. Integers are Long, other numbers Double. */
    static final class Json {
        private static final Pattern NUMBER = Pattern.compile("-?(0|[1-9][0-9]*)(\\.[0-9]+)?([eE][+-]?[0-9]+)?");
        private static final int MAX_DEPTH = 32;
        private final String text;
        private int position;

        private Json(String text) {
            this.text = text;
        }

        /** Returns null if the text is not a JSON object. */
        @SuppressWarnings("unchecked")
        static Map<String, Object> readObject(String text) {
            var reader = new Json(text);
            try {
                var value = reader.value(0);
                reader.skipSpace();
                return value instanceof Map && reader.position == text.length() ? (Map<String, Object>) value : null;
            } catch (IllegalArgumentException | StringIndexOutOfBoundsException error) {
                return null;
            }
        }

        private Object value(int depth) {
            if (depth > MAX_DEPTH) {
                throw new IllegalArgumentException();
            }
            skipSpace();
            char first = text.charAt(position);
            if (first == '{') {
                var members = new LinkedHashMap<String, Object>();
                list('}', () -> {
                    skipSpace();
                    var name = string();
                    expect(':');
                    members.put(name, value(depth + 1));
                });
                return members;
            }
            if (first == '[') {
                var elements = new ArrayList<>();
                list(']', () -> elements.add(value(depth + 1)));
                return elements;
            }
            return first == '"' ? string() : scalar();
        }

        private void list(char end, Runnable element) {
            position++;
            skipSpace();
            if (text.charAt(position) == end) {
                position++;
                return;
            }
            while (true) {
                element.run();
                skipSpace();
                char next = text.charAt(position++);
                if (next == end) {
                    return;
                }
                if (next != ',') {
                    throw new IllegalArgumentException();
                }
            }
        }

        private Object scalar() {
            int start = position;
            while (position < text.length() && " \t\r\n,]}".indexOf(text.charAt(position)) < 0) {
                position++;
            }
            var word = text.substring(start, position);
            switch (word) {
                case "true", "false":
                    return word.equals("true");
                case "null":
                    return null;
                default:
                    if (!NUMBER.matcher(word).matches()) {
                        throw new IllegalArgumentException();
                    }
                    // Not a conditional expression: that would convert the Long to a Double.
                    if (word.matches("-?[0-9]{1,18}")) {
                        return Long.valueOf(word);
                    }
                    return Double.valueOf(word);
            }
        }

        private String string() {
            if (text.charAt(position++) != '"') {
                throw new IllegalArgumentException();
            }
            var result = new StringBuilder();
            while (true) {
                char next = text.charAt(position++);
                if (next == '"') {
                    return result.toString();
                }
                if (next < ' ') {
                    throw new IllegalArgumentException();
                }
                result.append(next == '\\' ? escaped() : next);
            }
        }

        private char escaped() {
            char letter = text.charAt(position++);
            if (letter == 'u') {
                position += 4;
                return (char) HexFormat.fromHexDigits(text, position - 4, position);
            }
            int index = "\"\\/bfnrt".indexOf(letter);
            if (index < 0) {
                throw new IllegalArgumentException();
            }
            return "\"\\/\b\f\n\r\t".charAt(index);
        }

        private void expect(char wanted) {
            skipSpace();
            if (text.charAt(position++) != wanted) {
                throw new IllegalArgumentException();
            }
        }

        private void skipSpace() {
            while (position < text.length() && " \t\r\n".indexOf(text.charAt(position)) >= 0) {
                position++;
            }
        }

        /** Writes maps, lists, texts, numbers, Booleans and null. */
        static String write(Object value) {
            var out = new StringBuilder();
            write(value, out);
            return out.toString();
        }

        private static void write(Object value, StringBuilder out) {
            if (value instanceof Map<?, ?> members) {
                var separator = "{";
                for (var member : members.entrySet()) {
                    out.append(separator);
                    writeText(String.valueOf(member.getKey()), out);
                    out.append(':');
                    write(member.getValue(), out);
                    separator = ",";
                }
                out.append(members.isEmpty() ? "{}" : "}");
            } else if (value instanceof Iterable<?> elements) {
                out.append('[');
                var separator = "";
                for (var element : elements) {
                    out.append(separator);
                    write(element, out);
                    separator = ",";
                }
                out.append(']');
            } else if (value == null || value instanceof Number || value instanceof Boolean) {
                out.append(value);
            } else if (value instanceof CharSequence text) {
                writeText(text, out);
            } else {
                throw new IllegalArgumentException("JSON has no " + value.getClass().getName());
            }
        }

        private static void writeText(CharSequence text, StringBuilder out) {
            out.append('"');
            for (int index = 0; index < text.length(); index++) {
                char next = text.charAt(index);
                if (next == '"' || next == '\\') {
                    out.append('\\').append(next);
                } else if (next < ' ') {
                    out.append(String.format("\\u%04x", (int) next));
                } else {
                    out.append(next);
                }
            }
            out.append('"');
        }
    }
}
