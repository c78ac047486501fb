package client_test

import (
	"context"
	"fmt"
	"log"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/client"
)

// Find an agent, send it a message, and print what becomes of it.
func Example() {
	ctx := context.Background()
	agent, err := client.Dial(ctx, "https://agent.example", client.Config{})
	if err != nil {
		log.Fatal(err)
	}
	defer agent.Close()

	message := a2a.NewMessage(a2a.RoleUser, a2a.TextPart("Summarise invoice 7"))
	stream, err := agent.SendStreamingMessage(ctx, &a2a.SendMessageRequest{Message: *message})
	if err != nil {
		log.Fatalf("%s: %v", client.Classify(err, false), err)
	}
	var result client.Assembly
	for event, err := range stream.All() {
		if err == nil {
			err = result.Apply(event)
		}
		if err != nil {
			log.Fatal(err)
		}
	}
	if task := result.Task(); task != nil {
		fmt.Println(task.Status.State, len(task.Artifacts))
	}
}
