<?php

// Calls the client for a test: one call for each line of standard input, as JSON. PHP has no threads, so the callers of
// a call take turns.

require $argv[1];

$arguments = array_slice($argv, 2);
$client = new PrivySeal\Client(
    $arguments[0],
    $arguments[1],
    $arguments[2] === '' ? null : $arguments[2],
    (float) $arguments[3],
    (float) $arguments[4],
    (int) $arguments[5],
);

function result(PrivySeal\Client $client, array $call): array
{
    try {
        return ['answer' => match ($call['call']) {
            'offer' => $client->offer($call['bundleId'], $call['feature'], $call['fields']),
            'appToken' => $client->appToken($call['bundleId']),
            'serviceToken' => $client->serviceToken($call['name'], $call['fields']),
        }];
    } catch (Throwable $error) {
        $kind = match (get_class($error)) {
            PrivySeal\Problem::class => 'problem',
            PrivySeal\InvalidAnswer::class => 'answer',
            PrivySeal\ConnectionError::class => 'connection',
            default => 'other',
        };
        // A stream in the arguments has no JSON.
        $trace = json_encode($error->getTrace(), JSON_PARTIAL_OUTPUT_ON_ERROR);
        return ['error' => $kind, 'message' => $error->getMessage(), 'trace' => $trace] + get_object_vars($error);
    }
}

while (($line = fgets(STDIN)) !== false) {
    $call = json_decode($line, true, flags: JSON_THROW_ON_ERROR);
    $results = array_map(fn () => result($client, $call), range(1, $call['callers']));
    fwrite(STDOUT, json_encode($results, JSON_THROW_ON_ERROR) . "\n");
}
