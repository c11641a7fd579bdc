// Package privyseal is a client of the PrivySeal gateway. It needs only the standard library.
package privyseal

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"mime"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Options describe one gateway. URL and TokenFile are required.
type Options struct {
	// URL is the address of the public listener, such as https://gateway.example.com:8443.
	URL string
	// TokenFile contains the client's bearer token. The client reads it for each request, so the token can be replaced.
	TokenFile string
	// CAFile contains trusted certificates in PEM. If it is empty, the system's certificates are trusted.
	CAFile string
	// Timeout limits each attempt. The default, 15 s, is longer than the gateway's own limit of 10 s.
	Timeout time.Duration
	// MaxWait is the longest Retry-After that the client waits for. The default is 10 s.
	MaxWait time.Duration
	// MaxAnswerBytes limits the body of an answer. The default is 1 MiB.
	MaxAnswerBytes int64
}

// Offer is the answer of a feature. Members that the feature does not have are empty.
type Offer struct {
	JWS                  string `json:"jws"`
	KeyID                string `json:"keyId"`
	Nonce                string `json:"nonce"`
	IssuedAt             int64  `json:"issuedAt"` // seconds since 1970
	AdvancedCommerceData string `json:"advancedCommerceData"`
	// The members of legacy-promotional-offer, besides Nonce.
	KeyIdentifier string `json:"keyIdentifier"`
	Timestamp     int64  `json:"timestamp"` // milliseconds since 1970
	Signature     string `json:"signature"`
	// JSON is the answer as received. A server can pass it to its app.
	JSON json.RawMessage `json:"-"`
}

// Token is a bearer token for a service of Apple. The times are in seconds since 1970.
type Token struct {
	Token        string `json:"token"`
	KeyID        string `json:"keyId"`
	IssuedAt     int64  `json:"issuedAt"`
	ExpiresAt    int64  `json:"expiresAt"`
	RefreshAfter int64  `json:"refreshAfter"`

	asked    time.Time // when the client sent the request
	answered int64     // when the gateway answered, by its own clock; 0 if the answer has no valid Date
}

// isOver reports whether the token should be replaced. The clock of this machine may be wrong, so the time since the request
// is also compared with the difference of two times of the gateway.
func (t *Token) isOver() bool {
	// The gateway may have issued the token long before it answered.
	start := t.IssuedAt
	if t.answered > start {
		start = t.answered
	}
	return time.Now().Unix() >= t.RefreshAfter || int64(time.Since(t.asked)/time.Second) >= t.RefreshAfter-start
}

func (t *Token) isOrdered() bool {
	return t.IssuedAt <= t.RefreshAfter && t.RefreshAfter <= t.ExpiresAt
}

// String leaves out the token, because programs log what they print.
func (t Token) String() string { return fmt.Sprintf("token of %s until %d", t.KeyID, t.ExpiresAt) }

// Problem is an error answer of the gateway (RFC 9457).
type Problem struct {
	Type, Title, Detail string
	Status              int
	Field               string // the wrong member of the request, or empty
	RequestID           string
	// RetryAfter is negative if the answer has no Retry-After. It is the longest time.Duration if the header is not a number
	// of at most 9 digits.
	RetryAfter time.Duration
}

const longestDuration = time.Duration(math.MaxInt64)

func (p *Problem) Error() string {
	return fmt.Sprintf("the gateway answered %d %s: %s (request %s)", p.Status, p.Type, p.Detail, p.RequestID)
}

// InvalidAnswer is an answer that does not follow the HTTP API.
type InvalidAnswer struct{ Reason, RequestID string }

func (e *InvalidAnswer) Error() string {
	return fmt.Sprintf("the answer is invalid: %s (request %s)", e.Reason, e.RequestID)
}

// ConnectionError is an attempt without a complete answer.
type ConnectionError struct{ Cause error }

func (e *ConnectionError) Error() string { return "no answer from the gateway: " + e.Cause.Error() }
func (e *ConnectionError) Unwrap() error { return e.Cause }

// Client may be used by several goroutines.
type Client struct {
	options Options
	http    *http.Client
	lock    sync.Mutex
	tokens  map[string]*tokenRequest
}

// tokenRequest is a request for a token, and its result when done is closed.
type tokenRequest struct {
	done  chan struct{}
	token *Token
	err   error
}

func New(options Options) (*Client, error) {
	base, err := url.Parse(options.URL)
	if err != nil || (base.Scheme != "https" && base.Scheme != "http") || base.Host == "" || base.User != nil ||
		strings.ContainsAny(options.URL, "?#") {
		return nil, errors.New("the URL must be https://HOST or http://HOST, with an optional port and path")
	}
	options.URL = strings.TrimRight(options.URL, "/")
	if options.Timeout <= 0 {
		options.Timeout = 15 * time.Second
	}
	if options.MaxWait <= 0 {
		options.MaxWait = 10 * time.Second
	}
	if options.MaxAnswerBytes <= 0 {
		options.MaxAnswerBytes = 1 << 20
	}
	settings := &tls.Config{MinVersion: tls.VersionTLS12}
	if options.CAFile != "" {
		pem, err := os.ReadFile(options.CAFile)
		if err != nil {
			return nil, err
		}
		settings.RootCAs = x509.NewCertPool()
		if !settings.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("%s contains no certificate in PEM", options.CAFile)
		}
	}
	return &Client{
		options: options,
		tokens:  map[string]*tokenRequest{},
		http: &http.Client{
			Timeout: options.Timeout,
			// Without Proxy, the environment cannot send the bearer token through another machine.
			Transport: &http.Transport{TLSClientConfig: settings, IdleConnTimeout: 30 * time.Second},
			// A redirect could send the request to another server.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}, nil
}

// Offer asks for a signature. A feature that this client does not know returns only JSON.
func (c *Client) Offer(ctx context.Context, bundleID, feature string, fields any) (*Offer, error) {
	content, err := json.Marshal(fields)
	if err != nil {
		return nil, err
	}
	offer := &Offer{}
	path := "/v1/apps/" + url.PathEscape(bundleID) + "/" + url.PathEscape(feature)
	body, err := c.post(ctx, path, content, offers[feature], offer)
	if err != nil {
		return nil, err
	}
	offer.JSON = body
	return offer, nil
}

// AppToken returns a token for the App Store Server API.
func (c *Client) AppToken(ctx context.Context, bundleID string) (*Token, error) {
	return c.token(ctx, "/v1/apps/"+url.PathEscape(bundleID)+"/app-store-server-api", struct{}{})
}

// ServiceToken returns a token for a service of the gateway's configuration. fields may be nil.
func (c *Client) ServiceToken(ctx context.Context, name string, fields map[string]any) (*Token, error) {
	if fields == nil {
		fields = map[string]any{}
	}
	return c.token(ctx, "/v1/services/"+url.PathEscape(name)+"/token", fields)
}

func (c *Client) token(ctx context.Context, path string, fields any) (*Token, error) {
	// The request may outlive this call. The caller may change its map then.
	content, err := json.Marshal(fields)
	if err != nil {
		return nil, err
	}
	key := path + "\n" + string(content)
	c.lock.Lock()
	request := c.tokens[key]
	if request == nil || request.isOver() {
		for key, old := range c.tokens {
			if old.isOver() {
				delete(c.tokens, key)
			}
		}
		request = &tokenRequest{done: make(chan struct{})}
		c.tokens[key] = request
		// Other callers may wait for the same request, so the context of this caller must not end it.
		go func() {
			token := &Token{}
			_, err := c.post(context.Background(), path, content, tokenMembers, token)
			request.token, request.err = token, err
			close(request.done)
		}()
	}
	c.lock.Unlock()
	select {
	case <-request.done:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if request.err != nil {
		return nil, request.err
	}
	token := *request.token
	return &token, nil
}

// isOver reports whether the request failed, or its token should be replaced.
func (r *tokenRequest) isOver() bool {
	select {
	case <-r.done:
		return r.err != nil || r.token.isOver()
	default:
		return false
	}
}

// post sends a request up to three times, and returns the checked answer.
func (c *Client) post(ctx context.Context, path string, content []byte, members []member, into any) (json.RawMessage, error) {
	for attempt := 1; ; attempt++ {
		body, err := c.attempt(ctx, path, content, members, into)
		if err == nil {
			return body, nil
		}
		wait, isRetried := c.waitBeforeRetry(err, attempt)
		if !isRetried || ctx.Err() != nil {
			return nil, err
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil, ctx.Err()
		}
	}
}

// waitBeforeRetry follows "Retrying" of docs/http-api.md. attempt is the number of attempts made.
func (c *Client) waitBeforeRetry(err error, attempt int) (time.Duration, bool) {
	var problem *Problem
	var connection *ConnectionError
	if attempt > 2 {
		return 0, false
	}
	if errors.As(err, &connection) {
		return 0, true
	}
	if !errors.As(err, &problem) {
		return 0, false
	}
	wait := problem.RetryAfter
	if wait > c.options.MaxWait || wait == longestDuration {
		return 0, false
	}
	switch problem.Status {
	case 408:
		return 0, true
	case 500:
		return 0, attempt == 1
	case 504:
		if wait < 0 {
			wait = 0
		}
		return wait, true
	case 429:
		return wait + randomPart(), wait >= 0
	case 503:
		// The gateway always sends Retry-After. A proxy may not.
		if wait < 0 {
			wait = time.Second
		}
		return wait + randomPart(), true
	}
	return 0, false
}

// randomPart is less than one second. Callers that were refused together do not return together.
func randomPart() time.Duration {
	number, err := rand.Int(rand.Reader, big.NewInt(int64(time.Second)))
	if err != nil {
		return time.Second / 2
	}
	return time.Duration(number.Int64())
}

func (c *Client) attempt(ctx context.Context, path string, content []byte, members []member, into any) (json.RawMessage, error) {
	token, err := readToken(c.options.TokenFile)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.options.URL+path, bytes.NewReader(content))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+token)
	request.Header.Set("Content-Type", "application/json")
	asked := time.Now()
	response, err := c.http.Do(request)
	if err != nil {
		return nil, &ConnectionError{err}
	}
	defer response.Body.Close()
	requestID := response.Header.Get("X-Request-Id")
	body, err := io.ReadAll(io.LimitReader(response.Body, c.options.MaxAnswerBytes+1))
	if err != nil {
		return nil, &ConnectionError{err}
	}
	if int64(len(body)) > c.options.MaxAnswerBytes {
		return nil, &InvalidAnswer{fmt.Sprintf("it has more than %d bytes", c.options.MaxAnswerBytes), requestID}
	}
	if response.StatusCode >= 400 {
		return nil, readProblem(response, body)
	}
	if response.StatusCode != 200 {
		return nil, &InvalidAnswer{fmt.Sprintf("its status is %d", response.StatusCode), requestID}
	}
	known, reason := readMembers(body, members)
	if reason == "" && json.Unmarshal(known, into) != nil {
		reason = "its members cannot be read"
	}
	if token, isToken := into.(*Token); reason == "" && isToken {
		if !token.isOrdered() {
			reason = `"issuedAt", "refreshAfter" and "expiresAt" are not in order`
		}
		token.asked = asked
		if date, err := http.ParseTime(response.Header.Get("Date")); err == nil {
			token.answered = date.Unix()
		}
	}
	if reason != "" {
		return nil, &InvalidAnswer{reason, requestID}
	}
	return body, nil
}

var bearerToken = regexp.MustCompile(`^[A-Za-z0-9._~+/=-]+$`) // RFC 6750 §2.1

func readToken(path string) (string, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	token := strings.TrimSpace(string(content))
	if !bearerToken.MatchString(token) {
		return "", fmt.Errorf("%s does not contain a bearer token", path)
	}
	return token, nil
}

var retryAfter = regexp.MustCompile(`^[0-9]{1,9}$`)

func readProblem(response *http.Response, body []byte) *Problem {
	problem := &Problem{Type: "about:blank", Status: response.StatusCode, RetryAfter: -1}
	problem.RequestID = response.Header.Get("X-Request-Id")
	if after := response.Header.Values("Retry-After"); len(after) > 0 {
		problem.RetryAfter = longestDuration
		if retryAfter.MatchString(after[0]) {
			seconds, _ := strconv.Atoi(after[0])
			problem.RetryAfter = time.Duration(seconds) * time.Second
		}
	}
	// A proxy may answer with another content type. Then only the status is known.
	kind, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type"))
	var members map[string]any
	if kind != "application/problem+json" || json.Unmarshal(body, &members) != nil {
		return problem
	}
	texts := map[string]*string{
		"type": &problem.Type, "title": &problem.Title, "detail": &problem.Detail, "field": &problem.Field,
		"requestId": &problem.RequestID,
	}
	for name, text := range texts {
		// RFC 9457 §3.1: a member of the wrong kind is ignored.
		if value, isText := members[name].(string); isText {
			*text = value
		}
	}
	return problem
}

// member is a required member of an answer, what it is, and the check of its value.
type member struct {
	name, kind string
	isValid    func(any) bool
}

var (
	tokenMembers = []member{
		text("token", "a JWS in compact serialization", isJWS), keyID("keyId"), positive("issuedAt"), positive("expiresAt"),
		positive("refreshAfter"),
	}
	jwsMembers = []member{text("jws", "a JWS in compact serialization", isJWS), keyID("keyId"), nonce, positive("issuedAt")}
	nonce      = text("nonce", "a UUID in lower case", regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`).MatchString)
	offers     = map[string][]member{
		"promotional-offer":              jwsMembers,
		"introductory-offer-eligibility": jwsMembers,
		"advanced-commerce-api":          append(jwsMembers[:4:4], text("advancedCommerceData", "padded Base64", isBase64)),
		"legacy-promotional-offer": {
			keyID("keyIdentifier"), nonce, positive("timestamp"), text("signature", "padded Base64", isBase64),
		},
	}
)

func text(name, kind string, isValid func(string) bool) member {
	return member{name, kind, func(value any) bool {
		text, isText := value.(string)
		return isText && isValid(text)
	}}
}

func keyID(name string) member {
	return text(name, "a text that is not empty", func(text string) bool { return text != "" })
}

func positive(name string) member {
	return member{name, "a positive integer", func(value any) bool {
		number, isNumber := value.(json.Number)
		integer, err := strconv.ParseInt(string(number), 10, 64)
		return isNumber && err == nil && integer > 0
	}}
}

func isBase64(text string) bool {
	bytes, err := base64.StdEncoding.Strict().DecodeString(text)
	return err == nil && len(bytes) > 0 && !strings.ContainsAny(text, "\r\n")
}

func isJWS(text string) bool {
	parts := strings.Split(text, ".")
	for _, part := range parts {
		bytes, err := base64.RawURLEncoding.Strict().DecodeString(part)
		if err != nil || len(bytes) == 0 || strings.ContainsAny(part, "\r\n") {
			return false
		}
	}
	return len(parts) == 3
}

// readMembers returns a JSON object with only these members, or what is wrong with the answer. It compares names exactly;
// json.Unmarshal alone would also accept them in upper case.
func readMembers(body []byte, members []member) (json.RawMessage, string) {
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	var value map[string]any
	if !json.Valid(body) || decoder.Decode(&value) != nil || value == nil {
		return nil, "it is not a JSON object"
	}
	known := map[string]any{}
	for _, member := range members {
		found, exists := value[member.name]
		if !exists {
			return nil, fmt.Sprintf("%q is missing", member.name)
		}
		if !member.isValid(found) {
			return nil, fmt.Sprintf("%q is not %s", member.name, member.kind)
		}
		known[member.name] = found
	}
	content, err := json.Marshal(known)
	if err != nil {
		return nil, err.Error()
	}
	return content, ""
}
