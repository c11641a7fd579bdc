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
    } catch (PrivySeal\Problem $problem) {
        return ['error' => 'problem', 'message' => $problem->getMessage()] + get_object_vars($problem);
    } catch (PrivySeal\InvalidAnswer $error) {
        return ['error' => 'answer', 'message' => $error->getMessage()];
    } catch (PrivySeal\ConnectionError $error) {
        return ['error' => 'connection', 'message' => $error->getMessage()];
    } catch (Throwable $error) {
        return ['error' => 'other', 'message' => $error->getMessage()];
    }
}

while (($line = fgets(STDIN)) !== false) {
    $call = json_decode($line, true, flags: JSON_THROW_ON_ERROR);
    $results = array_map(fn () => result($client, $call), range(1, $call['callers']));
    fwrite(STDOUT, json_encode($results, JSON_THROW_ON_ERROR) . "\n");
}
