<?php

// A client of the PrivySeal gateway. It needs PHP 8.1 or later with openssl, and allow_url_fopen (the default).

declare(strict_types=1);

namespace PrivySeal;

/** An error answer of the gateway (RFC 9457). */
final class Problem extends \RuntimeException
{
    public function __construct(
        public readonly int $status,
        public readonly string $requestId,
        /** Seconds; null if the answer has no Retry-After, and PHP_INT_MAX if it is not a number of at most 9 digits. */
        public readonly ?int $retryAfter,
        public readonly string $type = 'about:blank',
        public readonly string $title = '',
        public readonly string $detail = '',
        /** The wrong member of the request, or an empty text. */
        public readonly string $field = '',
    ) {
        parent::__construct("the gateway answered $status $type: $detail (request $requestId)");
    }
}

/** An answer that does not follow the HTTP API. */
final class InvalidAnswer extends \RuntimeException
{
    public function __construct(public readonly string $reason, public readonly string $requestId)
    {
        parent::__construct("the answer is invalid: $reason (request $requestId)");
    }
}

/** An attempt without a complete answer. */
final class ConnectionError extends \RuntimeException
{
}

final class Client
{
    private const JWS = [
        'jws' => 'a JWS in compact serialization', 'keyId' => 'a text that is not empty', 'nonce' => 'a UUID in lower case',
        'issuedAt' => 'a positive integer',
    ];
    /** The required members of each answer, and what they are. */
    private const OFFERS = [
        'promotional-offer' => self::JWS,
        'introductory-offer-eligibility' => self::JWS,
        'advanced-commerce-api' => self::JWS + ['advancedCommerceData' => 'padded Base64'],
        'legacy-promotional-offer' => [
            'keyIdentifier' => 'a text that is not empty', 'nonce' => 'a UUID in lower case',
            'timestamp' => 'a positive integer', 'signature' => 'padded Base64',
        ],
    ];
    private const TOKEN = [
        'token' => 'a JWS in compact serialization', 'keyId' => 'a text that is not empty', 'issuedAt' => 'a positive integer',
        'expiresAt' => 'a positive integer', 'refreshAfter' => 'a positive integer',
    ];

    /** For each token, the answer and the end of its use by the monotonic clock. */
    private array $tokens = [];
    private string $url;

    /**
     * @param string $url the address of the public listener, such as https://gateway.example.com:8443
     * @param string $tokenFile the file with the bearer token; it is read for each request, so the token can be replaced
     * @param ?string $caFile trusted certificates in PEM; without it, the system's certificates are trusted
     * @param float $timeout seconds for each attempt; the gateway's own limit is 10
     * @param float $maxWait the longest Retry-After in seconds that the client waits for
     */
    public function __construct(
        string $url,
        private readonly string $tokenFile,
        private readonly ?string $caFile = null,
        private readonly float $timeout = 15,
        private readonly float $maxWait = 10,
        private readonly int $maxAnswerBytes = 1 << 20,
    ) {
        if (!preg_match('~^https?://[^/?#@\s]+(/[^?#\s]*)?$~D', $url)) {
            throw new \InvalidArgumentException('the URL must be https://HOST or http://HOST, with an optional port and path');
        }
        // PHP would silently trust nothing, or warn only in its log.
        if ($caFile !== null && !is_readable($caFile)) {
            throw new \InvalidArgumentException("$caFile cannot be read");
        }
        $this->url = rtrim($url, '/');
    }

    /**
     * Asks for a signature. The result has the members of the answer. PHP cannot distinguish an empty list from an empty
     * object: use new \stdClass for an empty object inside the fields.
     */
    public function offer(string $bundleId, string $feature, array $fields): array
    {
        $path = '/v1/apps/' . rawurlencode($bundleId) . '/' . rawurlencode($feature);
        return $this->post($path, $fields, self::OFFERS[$feature] ?? [])[0];
    }

    /** Returns a token for the App Store Server API. */
    public function appToken(string $bundleId): array
    {
        return $this->token('/v1/apps/' . rawurlencode($bundleId) . '/app-store-server-api', []);
    }

    /** Returns a token for a service of the gateway's configuration. */
    public function serviceToken(string $name, array $fields = []): array
    {
        return $this->token('/v1/services/' . rawurlencode($name) . '/token', $fields);
    }

    private function token(string $path, array $fields): array
    {
        $isKept = fn ($token) => time() < $token[0]['refreshAfter'] && self::monotonicTime() < $token[1];
        $this->tokens = array_filter($this->tokens, $isKept);
        $key = $path . "\n" . self::encode($fields);
        return ($this->tokens[$key] ??= $this->post($path, $fields, self::TOKEN))[0];
    }

    /** Sends a request up to three times. Returns the checked answer, and the end of its use by the monotonic clock. */
    private function post(string $path, array $fields, array $members): array
    {
        $content = self::encode($fields);
        for ($attempt = 1;; $attempt++) {
            try {
                return $this->attempt($path, $content, $members);
            } catch (Problem | ConnectionError $error) {
                $wait = $attempt <= 2 ? $this->waitBeforeRetry($error, $attempt) : null;
                if ($wait === null) {
                    throw $error;
                }
                usleep((int) ($wait * 1_000_000));
            }
        }
    }

    /** The seconds to wait according to "Retrying" of docs/http-api.md; null for no retry. */
    private function waitBeforeRetry(Problem|ConnectionError $error, int $attempt): ?float
    {
        if ($error instanceof ConnectionError) {
            return 0;
        }
        $after = $error->retryAfter;
        if ($after > $this->maxWait || $after === PHP_INT_MAX) {
            return null;
        }
        // Less than one second. Callers that were refused together do not return together.
        $random = random_int(0, 999_999) / 1_000_000;
        return match ($error->status) {
            408 => 0,
            500 => $attempt === 1 ? 0 : null,
            504 => $after ?? 0,
            429 => $after === null ? null : $after + $random,
            // The gateway always sends Retry-After. A proxy may not.
            503 => ($after ?? 1) + $random,
            default => null,
        };
    }

    private function attempt(string $path, string $content, array $members): array
    {
        $header = ['Authorization: Bearer ' . $this->readToken(), 'Content-Type: application/json', 'Connection: close'];
        $context = stream_context_create([
            'http' => [
                'method' => 'POST', 'header' => $header, 'content' => $content, 'timeout' => $this->timeout,
                'ignore_errors' => true, 'protocol_version' => 1.1,
                // A redirect could send the bearer token to another server.
                'follow_location' => 0,
                // PHP's decoder of chunks does not report that the last one is missing.
                'auto_decode' => false,
            ],
            'ssl' => ['verify_peer' => true, 'verify_peer_name' => true]
                + ($this->caFile === null ? [] : ['cafile' => $this->caFile]),
        ]);
        $begun = self::monotonicTime();
        error_clear_last();
        $stream = @fopen($this->url . $path, 'rb', false, $context);
        if ($stream === false) {
            throw new ConnectionError('no answer from the gateway: ' . (error_get_last()['message'] ?? 'fopen failed'));
        }
        try {
            [$status, $names] = self::readHeader(stream_get_meta_data($stream)['wrapper_data']);
            $requestId = $names['x-request-id'] ?? '';
            // PHP skips only one interim answer (RFC 9110 §15.2). A second one has no body, and the server may wait.
            if ($status < 200) {
                throw new InvalidAnswer("its status is $status", $requestId);
            }
            $body = $this->readBody($stream, $begun + $this->timeout, $names);
        } finally {
            fclose($stream);
        }
        if ($status >= 400) {
            throw self::readProblem($status, $names, $body);
        }
        if ($status !== 200) {
            throw new InvalidAnswer("its status is $status", $requestId);
        }
        $answer = self::readAnswer($body, $members, $requestId);
        $isToken = $members === self::TOKEN;
        return [$answer, $isToken ? $begun + self::secondsToKeep($answer, $names['date'] ?? '') : null];
    }

    /** @param resource $stream */
    private function readBody($stream, float $deadline, array $names): string
    {
        $isChunked = isset($names['transfer-encoding']);
        // Without a length, the body ends with the connection.
        $length = $isChunked || !isset($names['content-length']) ? null : max(0, (int) $names['content-length']);
        $body = $chunks = '';
        while (true) {
            $isComplete = $isChunked ? self::takeChunks($chunks, $body) : strlen($body) === $length;
            // Besides its content, a chunk has a line with its size.
            if (strlen($body) > $this->maxAnswerBytes || strlen($chunks) > $this->maxAnswerBytes + 8192) {
                throw new InvalidAnswer("it has more than $this->maxAnswerBytes bytes", $names['x-request-id'] ?? '');
            }
            if ($isComplete) {
                return $body;
            }
            $rest = $deadline - self::monotonicTime();
            if ($rest > 0) {
                stream_set_timeout($stream, (int) $rest, (int) (fmod($rest, 1) * 1_000_000));
                // fread waits if it should return more bytes than PHP has buffered.
                $most = stream_get_meta_data($stream)['unread_bytes'] ?: 8192;
                $bytes = (string) fread($stream, $length === null ? $most : min($most, $length - strlen($body)));
            }
            if ($rest <= 0 || stream_get_meta_data($stream)['timed_out']) {
                throw new ConnectionError("no answer from the gateway within $this->timeout s");
            }
            if ($bytes === '' && feof($stream)) {
                if ($isChunked || $length !== null) {
                    throw new ConnectionError('no answer from the gateway: the connection ended inside the body');
                }
                return $body;
            }
            if ($isChunked) {
                $chunks .= $bytes;
            } else {
                $body .= $bytes;
            }
        }
    }

    /** Moves the content of complete chunks (RFC 9112 §7.1) to the body. Returns whether the last one has come. */
    private static function takeChunks(#[\SensitiveParameter] string &$chunks, #[\SensitiveParameter] string &$body): bool
    {
        while (preg_match('/^([0-9a-f]{1,7})[ \t]*(;[^\r\n]*)?\r\n/i', $chunks, $match)) {
            [$begin, $size] = [strlen($match[0]), (int) hexdec($match[1])];
            if ($size === 0) {
                return true;
            }
            if (strlen($chunks) < $begin + $size + 2) {
                return false;
            }
            $body .= substr($chunks, $begin, $size);
            $chunks = substr($chunks, $begin + $size + 2);
        }
        return false;
    }

    /** Seconds that are not changed with the clock of the machine. */
    private static function monotonicTime(): float
    {
        return hrtime(true) / 1_000_000_000;
    }

    /**
     * Compares only times of the gateway, because the clock of this machine may be wrong. issuedAt is not enough: the gateway
     * may have issued the token long before this answer.
     */
    private static function secondsToKeep(#[\SensitiveParameter] array $token, string $date): int
    {
        // 0 if the date is absent or invalid.
        return $token['refreshAfter'] - max($token['issuedAt'], (int) strtotime($date));
    }

    /** Returns the status and the header, whose names are in lower case. */
    private static function readHeader(array $lines): array
    {
        [$status, $names] = [0, []];
        foreach ($lines as $line) {
            if (preg_match('~^HTTP/\S+ (\d{3})~', $line, $match)) {
                [$status, $names] = [(int) $match[1], []];
            } elseif (str_contains($line, ':')) {
                [$name, $value] = explode(':', $line, 2);
                $names[strtolower($name)] = trim($value);
            }
        }
        return [$status, $names];
    }

    private function readToken(): string
    {
        $content = @file_get_contents($this->tokenFile, false, null, 0, 8192);
        $token = trim((string) $content);
        // RFC 6750 §2.1
        if (!preg_match('~^[A-Za-z0-9._\~+/=-]+$~D', $token)) {
            throw new \UnexpectedValueException("$this->tokenFile cannot be read, or does not contain a bearer token");
        }
        return $token;
    }

    private static function encode(array $fields): string
    {
        $flags = JSON_THROW_ON_ERROR | JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE | JSON_PRESERVE_ZERO_FRACTION;
        return json_encode((object) $fields, $flags);
    }

    private static function readProblem(int $status, array $names, #[\SensitiveParameter] string $body): Problem
    {
        $after = $names['retry-after'] ?? null;
        if ($after !== null) {
            $after = preg_match('/^\d{1,9}$/D', $after) ? (int) $after : PHP_INT_MAX;
        }
        $texts = [];
        // A proxy may answer with another content type. Then only the status is known.
        if (preg_match('~^application/problem\+json\s*(;|$)~i', $names['content-type'] ?? '')) {
            $members = json_decode($body, true);
            foreach (['type', 'title', 'detail', 'field', 'requestId'] as $name) {
                // RFC 9457 §3.1: a member of the wrong kind is ignored.
                if (is_array($members) && is_string($members[$name] ?? null)) {
                    $texts[$name] = $members[$name];
                }
            }
        }
        $texts += ['requestId' => $names['x-request-id'] ?? ''];
        return new Problem(...$texts, status: $status, retryAfter: $after);
    }

    private static function readAnswer(#[\SensitiveParameter] string $body, array $members, string $requestId): array
    {
        if (!json_decode($body) instanceof \stdClass) {
            throw new InvalidAnswer('it is not a JSON object', $requestId);
        }
        $answer = json_decode($body, true);
        foreach ($members as $name => $kind) {
            if (!array_key_exists($name, $answer)) {
                throw new InvalidAnswer("\"$name\" is missing", $requestId);
            }
            if (!self::isOfKind($kind, $answer[$name])) {
                throw new InvalidAnswer("\"$name\" is not $kind", $requestId);
            }
        }
        if ($members === self::TOKEN) {
            $isOrdered = $answer['issuedAt'] <= $answer['refreshAfter'] && $answer['refreshAfter'] <= $answer['expiresAt'];
            if (!$isOrdered) {
                throw new InvalidAnswer('"issuedAt", "refreshAfter" and "expiresAt" are not in order', $requestId);
            }
        }
        return $answer;
    }

    private static function isOfKind(string $kind, #[\SensitiveParameter] mixed $value): bool
    {
        if ($kind === 'a positive integer') {
            return is_int($value) && $value > 0;
        }
        return is_string($value) && match ($kind) {
            'a text that is not empty' => $value !== '',
            'a UUID in lower case' => preg_match('/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/D', $value) === 1,
            'padded Base64' => strlen($value) % 4 === 0 && preg_match('~^[A-Za-z0-9+/]+={0,2}$~D', $value) === 1,
            'a JWS in compact serialization' => self::isJWS($value),
        };
    }

    private static function isJWS(#[\SensitiveParameter] string $text): bool
    {
        $parts = explode('.', $text);
        foreach ($parts as $part) {
            // Base64url without padding: one character is left over for no number of bytes.
            if (!preg_match('/^[A-Za-z0-9_-]{2,}$/D', $part) || strlen($part) % 4 === 1) {
                return false;
            }
        }
        return count($parts) === 3;
    }
}
