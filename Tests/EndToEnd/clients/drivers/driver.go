// Command driver calls the client for a test: one call for each line of standard input, as JSON.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"os"
	"strconv"
	"sync"
	"time"

	"privyseal"
)

type call struct {
	Call, BundleID, Feature, Name string
	Fields                        map[string]any
	Callers                       int
}

func main() {
	numbers := make([]float64, 3)
	for index := range numbers {
		numbers[index], _ = strconv.ParseFloat(os.Args[4+index], 64)
	}
	client, err := privyseal.New(privyseal.Options{
		URL: os.Args[1], TokenFile: os.Args[2], CAFile: os.Args[3],
		Timeout: time.Duration(numbers[0] * float64(time.Second)), MaxWait: time.Duration(numbers[1] * float64(time.Second)),
		MaxAnswerBytes: int64(numbers[2]),
	})
	if err != nil {
		panic(err)
	}
	output := json.NewEncoder(os.Stdout)
	for input := bufio.NewScanner(os.Stdin); input.Scan(); {
		var call call
		if err := json.Unmarshal(input.Bytes(), &call); err != nil {
			panic(err)
		}
		results := make([]any, call.Callers)
		var callers sync.WaitGroup
		for index := range results {
			callers.Add(1)
			go func(index int) {
				defer callers.Done()
				results[index] = result(client, call)
			}(index)
		}
		callers.Wait()
		output.Encode(results)
	}
}

func result(client *privyseal.Client, call call) any {
	var answer any
	var err error
	switch call.Call {
	case "offer":
		offer, failure := client.Offer(context.Background(), call.BundleID, call.Feature, call.Fields)
		answer, err = offer, failure
		if offer != nil {
			answer = present(offer)
		}
	case "appToken":
		answer, err = client.AppToken(context.Background(), call.BundleID)
	default:
		fields := map[string]any{}
		for name, value := range call.Fields {
			fields[name] = &changing{value: value}
		}
		answer, err = client.ServiceToken(context.Background(), call.Name, fields)
	}
	if err == nil {
		return map[string]any{"answer": answer}
	}
	var problem *privyseal.Problem
	var invalid *privyseal.InvalidAnswer
	var connection *privyseal.ConnectionError
	switch {
	case errors.As(err, &problem):
		return map[string]any{
			"error": "problem", "message": err.Error(), "type": problem.Type, "title": problem.Title, "status": problem.Status,
			"detail": problem.Detail, "field": problem.Field, "requestId": problem.RequestID,
		}
	case errors.As(err, &invalid):
		return map[string]any{"error": "answer", "message": err.Error()}
	case errors.As(err, &connection):
		return map[string]any{"error": "connection", "message": err.Error()}
	}
	return map[string]any{"error": "other", "message": err.Error()}
}

// changing is a value of a map that the caller changes after the client has read it.
type changing struct {
	value     any
	isChanged bool
}

func (c *changing) MarshalJSON() ([]byte, error) {
	if c.isChanged {
		return json.Marshal("changed")
	}
	c.isChanged = true
	return json.Marshal(c.value)
}

// present returns the members of the offer that are not empty.
func present(offer *privyseal.Offer) map[string]any {
	content, _ := json.Marshal(offer)
	members := map[string]any{}
	json.Unmarshal(content, &members)
	for name, value := range members {
		if value == "" || value == 0.0 {
			delete(members, name)
		}
	}
	return members
}
